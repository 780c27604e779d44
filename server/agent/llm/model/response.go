package model

import (
	"context"
	"encoding/json"
)

// A Model is a model of a provider. Its methods may be called from any goroutine.
type Model interface {
	// Origin names the provider and the model.
	Origin() string

	// Stream requests the next message. It calls emit with each delta as it comes, from one
	// goroutine, and stops when emit fails. A response without its terminal event is an Error of
	// class Cut. With an error, the response has the parts received before it.
	Stream(ctx context.Context, r *Request, emit func(Delta) error) (*Response, error)
}

// A Request is a request for the next message of a conversation.
type Request struct {
	System   string
	Messages []Message
	Tools    []Tool
	NoCalls  bool   // the model must not call a tool
	Effort   string // of reasoning: low, medium or high; empty: the provider's default
	MaxOut   int64  // tokens of the response; 0: the provider's default
	CacheKey string // the same for all requests of a conversation
}

// A Tool describes a tool to the model. Schema is the JSON Schema of its arguments, an object.
type Tool struct {
	Name   string
	About  string
	Schema json.RawMessage
}

// A Delta is a piece of a part being streamed. Parts are counted from 0 in the order of their
// start; several may be open at the same time.
type Delta struct {
	Part int
	Type PartType // Text, Reasoning or ToolCall
	Text string   // to append; of a call: to its arguments
	Name string   // of a call, in its first delta
	Call string   // the id of a call, in its first delta
}

// A Response is the response of a model.
type Response struct {
	Message Message
	Stop    Stop
	Usage   Usage
	Detail  string // of a refusal or an unusual stop, for people
}

// A Stop is the reason why a response ended.
type Stop string

// The reasons.
const (
	StopEnd     Stop = "end"      // the message is complete
	StopCalls   Stop = "calls"    // the model waits for results
	StopLength  Stop = "length"   // the limit of the response's tokens; calls must not run
	StopContext Stop = "context"  // the context is full
	StopRefusal Stop = "refusal"  // of the model, or a filter of the provider
	StopPause   Stop = "pause"    // send the message back to continue
	StopInvalid Stop = "bad_call" // the provider could not parse a call
)

// Usage counts the tokens of a response. Input is the whole input, Cached and Written the parts of
// it that were read from a cache and written to it. Output includes Reasoning.
type Usage struct {
	Input     int64
	Cached    int64
	Written   int64
	Output    int64
	Reasoning int64
}

// A Backend is a model with its known properties.
type Backend struct {
	Model
	Window int64  // tokens of its context; 0: not known
	MaxOut int64  // tokens of a response; 0: the provider's default
	Price  *Price // nil: not known
}

// A Price is the price of a million tokens of each kind. Tokens read from a cache and written to it
// cost as input if they have no price.
type Price struct {
	Input    float64 `json:"input"`    // of tokens of requests
	Cached   float64 `json:"cached"`   // of input tokens read from a cache; default as input
	Written  float64 `json:"written"`  // of input tokens written to a cache; default as input
	Output   float64 `json:"output"`   // of tokens of responses
	Currency string  `json:"currency"` // of the price; default USD
}

// Cost returns the cost of a usage.
func (p *Price) Cost(u Usage) float64 {
	if p == nil {
		return 0
	}
	cached, written := p.Cached, p.Written
	if cached == 0 {
		cached = p.Input
	}
	if written == 0 {
		written = p.Input
	}
	plain := max(0, u.Input-u.Cached-u.Written)
	sum := float64(plain)*p.Input + float64(u.Cached)*cached + float64(u.Written)*written + float64(u.Output)*p.Output
	return sum / 1e6
}
