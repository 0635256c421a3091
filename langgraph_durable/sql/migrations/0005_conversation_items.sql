-- What clients of the Responses protocol put into a conversation by hand, or take out of it: an
-- item without text stands for one that was taken out.
CREATE TABLE conversation_items (
    thread_id text NOT NULL REFERENCES threads ON DELETE CASCADE,
    item_id text NOT NULL,
    position bigint GENERATED ALWAYS AS IDENTITY,
    item text,
    PRIMARY KEY (thread_id, item_id)
);
