package main

import (
	"agentctl/tui/protolog"
	"agentctl/wsclient"
)

// logTap returns a tap that adds the frames of a connection to log.
func logTap(log *protolog.Log) func(wsclient.Frame) {
	return func(f wsclient.Frame) {
		if f.Note != "" {
			log.AddNote(f.Time, f.Note)
			return
		}
		log.AddFrame(f.Time, f.Sent, f.Binary, f.Data)
	}
}
