package fakemodel

import (
	"regexp"
	"strings"
)

// API is a model API.
type API string

// Supported APIs.
const (
	Chat      API = "chat"      // OpenAI chat completions
	Responses API = "responses" // OpenAI Responses
	Messages  API = "messages"  // Anthropic Messages
	Gemini    API = "gemini"    // Gemini generateContent
)

// Roles of a Message in any API.
const (
	User      = "user"
	Assistant = "assistant"
	Tool      = "tool" // the result of a tool call
)

// Message is a message of a request, reduced to its text. Tool calls of the assistant have Call
// set.
type Message struct {
	Role string
	Text string
	Call string // name of the called tool
}

// Request is the decoded request of a client, reduced to what a Script needs.
type Request struct {
	API      API
	Model    string
	Stream   bool
	System   string
	Messages []Message
	Tools    []string // names of the tools offered
	Body     []byte   // as received
	N        int      // index of the request at its Handler, from 0

	// Tokens that the answer reported; 0 until it ends.
	Input, Output int
}

// noteEnd ends a note of the agent in a message.
const noteEnd = "</note>"

// LastUser returns the text of the last user message after the notes of the agent in it, or "".
func (r Request) LastUser() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == User {
			text := r.Messages[i].Text
			if at := strings.LastIndex(text, noteEnd); at >= 0 {
				text = strings.TrimLeft(text[at+len(noteEnd):], "\n")
			}
			return text
		}
	}
	return ""
}

// ToolResult returns the text of the last message, except for notes of the agent, and whether it is a tool result.
func (r Request) ToolResult() (string, bool) {
	n := len(r.Messages)
	for n > 0 && r.Messages[n-1].Role == User && strings.HasSuffix(r.Messages[n-1].Text, noteEnd) {
		n--
	}
	if n > 0 && r.Messages[n-1].Role == Tool {
		return r.Messages[n-1].Text, true
	}
	return "", false
}

// Offers reports whether the request offers the named tool.
func (r Request) Offers(tool string) bool {
	for _, t := range r.Tools {
		if t == tool {
			return true
		}
	}
	return false
}

// reminder is text that some agents add before and after what a user wrote.
var reminder = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)

// add appends a message, without reminders. Plain text of the same role is joined to the last
// message.
func (r *Request) add(m Message) {
	if m.Role == User {
		m.Text = strings.TrimSpace(reminder.ReplaceAllString(m.Text, ""))
	}
	if m.Text == "" && m.Call == "" && m.Role != Tool {
		return
	}
	if n := len(r.Messages); n > 0 && m.Role != Tool && m.Call == "" {
		if last := &r.Messages[n-1]; last.Role == m.Role && last.Call == "" {
			last.Text = strings.TrimPrefix(last.Text+"\n"+m.Text, "\n")
			return
		}
	}
	r.Messages = append(r.Messages, m)
}
