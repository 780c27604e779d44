// Package model is a conversation with a model in a form that is the same for all providers: its
// messages, the request for the next one, the response as it streams, and errors with their class.
//
// It owns these types. It knows no provider, no session and no network.
package model
