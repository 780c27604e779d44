package main

import (
	"agentctl/tui/protolog"
	"agentctl/wsclient"
)

// tapInto makes a tap that fills the log which the screen shows.
func tapInto(log *protolog.Log) func(wsclient.Frame) {
	return func(f wsclient.Frame) {
		if f.Note != "" {
			log.AddNote(f.Time, f.Note)
			return
		}
		log.AddFrame(f.Time, f.Sent, f.Binary, f.Data)
	}
}
