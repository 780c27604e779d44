package protocol

import "encoding/json"

// Types of the events of notices and foreign messages.
const (
	Notice Type = "notice"
	Raw    Type = "raw"
)

var noticeEvents = []EventType{
	{
		Type: Notice, New: of[NoticeData], AgentMay: true, Exported: true, Outside: true,
		line: noticeLine,
	},
	{Type: Raw, New: of[RawData], AgentMay: true, Sample: `{"source":"acp","method":"x","data":{"a":1}}`},
}

// Levels of a notice.
const (
	LevelInfo    = "info"
	LevelWarning = "warning"
)

// NoticeData is the data of notice: a line for people.
type NoticeData struct {
	Level   string `json:"level"`
	Code    Code   `json:"code,omitempty"`
	Message string `json:"message"`
}

// RawData is the data of raw: a foreign message without an equivalent, kept whole.
type RawData struct {
	Source string          `json:"source"` // acp, or a dialect's name
	Method string          `json:"method,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
	Blob   string          `json:"blob,omitempty"` // if too large for the event
	Bytes  int64           `json:"bytes,omitempty"`
}

func noticeLine(e *Event) Line {
	d := dataOf[NoticeData](e)
	if d.Level == LevelWarning {
		return Line{LevelWarning, "!", d.Message}
	}
	return Line{Level: LevelInfo, Text: d.Message}
}
