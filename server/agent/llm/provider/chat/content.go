package chat

import (
	"encoding/json"

	"agentctl/server/agent/llm/model"
)

// content is the content of a delta: a text, or a list of texts and reasoning as Mistral sends it.
type content []piece

// UnmarshalJSON implements json.Unmarshaler. Items of other types are left out.
func (c *content) UnmarshalJSON(data []byte) error {
	if data[0] != '[' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		*c = addPiece(nil, model.Text, text)
		return nil
	}
	var items []struct {
		Type     string  `json:"type"`
		Text     string  `json:"text"`
		Thinking content `json:"thinking"`
	}
	if err := json.Unmarshal(data, &items); err != nil {
		return err
	}
	*c = nil
	for _, item := range items {
		switch item.Type {
		case "text":
			*c = addPiece(*c, model.Text, item.Text)
		case "thinking":
			for _, p := range item.Thinking {
				*c = addPiece(*c, model.Reasoning, p.text)
			}
		}
	}
	return nil
}
