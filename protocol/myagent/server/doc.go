// Package server is agentctl's server for MyAgent's clients. It encodes the events of the sessions
// that a client uses as frames, executes the client's requests as native commands, and signs exported
// states. It stores the frames of a connection in codec.ResumeStore, so that a later connection can
// resume from any of them, and does not know the client package.
package server
