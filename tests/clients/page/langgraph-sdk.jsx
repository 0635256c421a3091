// A page with the hook of `@langchain/langgraph-sdk/react`, as an application would write it.
import { useStream } from "@langchain/langgraph-sdk/react";
import { useState } from "react";
import { Chat, given, show, useThread } from "./chat.jsx";

function Page() {
  const [runId, setRunId] = useState("");
  const stream = useStream({
    apiUrl: given.api,
    assistantId: "chat",
    ...useThread(),
    onCreated: (run) => setRunId(run.run_id),
    reconnectOnMount: given.rejoins !== "no",
    fetchStateHistory: true,
  });
  const answer = (resume) => stream.submit(undefined, { command: { resume } });
  return <Chat stream={stream} messages={stream.messages} runId={runId} answer={answer} />;
}

show(<Page />);
