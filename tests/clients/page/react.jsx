// A page with the hook of `@langchain/react`, as an application would write it.
import { useStream } from "@langchain/react";
import { useState } from "react";
import { Chat, given, show, useThread } from "./chat.jsx";

function Page() {
  const [runId, setRunId] = useState("");
  const stream = useStream({
    apiUrl: given.api,
    assistantId: "chat",
    ...useThread(),
    onCreated: (run) => setRunId(run.runId),
  });
  return <Chat stream={stream} messages={stream.messages} runId={runId} answer={stream.respond} />;
}

show(<Page />);
