// What a chat shows, whichever hook gives it.
import { useState } from "react";
import { createRoot } from "react-dom/client";

const place = new URL(window.location);

/** What the page's address says: where the API is, and the thread, once there is one. */
export const given = Object.fromEntries(place.searchParams);

/** The thread of the page's address, and how to put another one there. */
export function useThread() {
  const [threadId, setThreadId] = useState(given.thread ?? null);
  const onThreadId = (id) => {
    place.searchParams.set("thread", id);
    window.history.replaceState(null, "", place);
    setThreadId(id);
  };
  return { threadId, onThreadId };
}

export function Chat({ stream, messages, runId, answer }) {
  const [text, setText] = useState("");
  const send = () => stream.submit({ messages: [{ type: "human", content: text }] });
  return (
    <main data-run={runId} data-state={stream.isLoading ? "busy" : "idle"}>
      <ol>
        {messages.map((message) => (
          <li key={message.id} className={message.type}>
            {message.text ?? message.content}
          </li>
        ))}
      </ol>
      {stream.interrupt?.value && (
        <p id="question">
          {stream.interrupt.value.question}
          <button id="yes" onClick={() => answer("yes")}>
            yes
          </button>
        </p>
      )}
      {stream.error && <pre id="error">{String(stream.error)}</pre>}
      <input value={text} onChange={(event) => setText(event.target.value)} />
      <button id="send" onClick={send}>
        send
      </button>
      <button id="stop" onClick={() => stream.stop()}>
        stop
      </button>
    </main>
  );
}

export const show = (page) => createRoot(document.getElementById("root")).render(page);
