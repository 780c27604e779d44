package main

import (
	"agentctl/tui/protolog"
	"agentctl/wsclient"
)

// tapInto makes a tap that fills the log which the screen shows.
func tapInto(log *protolog.Log) func(wsclient.Frame) {
	return func(f wsclient.Frame) {
		if f.Note != "" {
			log.Note(f.Time, f.Note)
			return
		}
		log.Add(f.Time, f.Sent, f.Binary, f.Data)
	}
}
