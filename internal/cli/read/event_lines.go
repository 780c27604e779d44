package read

import (
	"agentctl/internal/export"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// eventLines prints events as lines. With fold it joins runs of deltas itself: those that a server
// joins depend on how far it has come, and the same events are to give the same lines always.
type eventLines struct {
	lines *export.JSONLines
	fold  bool
	run   protocol.DeltaRun
}

func (l *eventLines) write(item wsclient.Item) error {
	if !l.fold {
		return l.lines.Write(item.Raw)
	}
	e := item.Event
	d, ok := e.Delta()
	if ok && e.FirstSeq == 0 && len(d.Text) <= protocol.MaxJoined {
		if l.run.Add(e, d) {
			return nil
		}
		if err := l.endRun(); err != nil {
			return err
		}
		l.run.Add(e, d)
		return nil
	}
	if err := l.endRun(); err != nil {
		return err
	}
	return l.lines.Write(item.Raw)
}

// endRun prints the open run.
func (l *eventLines) endRun() error {
	if l.run.Len() == 0 {
		return nil
	}
	e := l.run.Event()
	l.run.Reset()
	return l.lines.Write(e.AppendJSON(nil))
}

// close prints the open run and the buffered lines.
func (l *eventLines) close() error {
	if err := l.endRun(); err != nil {
		return err
	}
	return l.lines.Flush()
}
