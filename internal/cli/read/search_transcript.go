package read

import (
	"fmt"
	"slices"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/sessionlog"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/server/history"
	"agentctl/wsclient"
)

// searchTranscript searches one session in the client, for servers without search, such as servers
// of a dialect. It searches the events that the server sends.
func (o *searchOptions) searchTranscript(c *connection.Conn) error {
	if err := o.requireSession(); err != nil {
		return err
	}
	name, words := o.Session, o.Args
	if name == "" {
		name, words = o.Args[0], o.Args[1:]
	}
	query, err := protocol.ParseQuery(queryOf(words))
	if err != nil {
		return exit.Usagef("%w", err)
	}
	transcript := &protocol.Transcript{}
	r := sessionlog.Reader{Conn: c, CLI: o.CLI, Session: name}
	err = r.Read(protocol.Position{}, func(item wsclient.Item) error {
		if item.Event == nil {
			return nil
		}
		if _, err := transcript.Apply(item.Event); err != nil {
			return fmt.Errorf("search: %w", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !slices.Contains(c.Hello().Commands, protocol.DoHistory) {
		o.CLI.Out.Notef("the dialect %s has no finished turns: only the current turn was searched", o.CLI.Flags.Dialect)
	}
	found := 0
	for _, turn := range slices.Backward(transcript.Turns) {
		for _, h := range history.SearchTurn(name, query, turn) {
			if found++; o.Limit > 0 && found > o.Limit {
				return nil
			}
			if err := o.printHit(&h, nil); err != nil {
				return err
			}
		}
	}
	if found == 0 {
		return exit.Silent(exit.Failure)
	}
	return nil
}

// requireSession returns an error unless the arguments name a session: the server cannot search in
// all sessions.
func (o *searchOptions) requireSession() error {
	if o.Session != "" || !o.All && len(o.Args) > 1 {
		return nil
	}
	return exit.Unsupportedf("this server cannot search in all sessions: it has no search").
		WithHint("name a session: agentctl search SESSION WORDS…")
}
