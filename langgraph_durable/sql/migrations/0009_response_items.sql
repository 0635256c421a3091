-- Which items a response has shown: clients that keep a history may name them instead of sending
-- them again.
ALTER TABLE responses ADD COLUMN item_ids text[] NOT NULL DEFAULT '{}';

CREATE INDEX responses_items ON responses USING gin (item_ids);
