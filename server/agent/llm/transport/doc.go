// Package transport sends the requests to model providers. It bounds the time until the first byte
// and between bytes, follows no redirect, and turns every failure into a model.Error with its class
// and delay, and without secrets.
//
// It owns the HTTP client. It knows no conversation.
package transport
