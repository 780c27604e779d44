package read

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/sessionlog"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/server/history"
	"agentctl/wsclient"
)

type searchOptions struct {
	verb.Options

	Args    []string
	All     bool
	Session string
	Limit   int
}

var searchVerb = verb.Verb{
	Use:   "search [SESSION] WORDS…",
	Short: "Search the transcripts of sessions",
	Long: `Print the messages, answers, reasoning, tool calls, approvals and errors that contain every word. An
argument with spaces is a phrase; an upper-case letter makes the search match case. The first of
several arguments is a session if one has that id or name, unless you pass --session or --all. Exits
1 when nothing matched and 2 after an error without its own code, like grep.`,
	Example: "  agentctl search fix cache key\n  agentctl search \"connection refused\" --limit 5\n" +
		"  agentctl search panic -o json | jq -r .session | sort -u",
	Group: verb.GroupRead, Reads: true, Sends: protocol.DoSubscribe,
	Trial:    "hello",
	Complete: completion.Sessions,

	Do: &verb.Steps[searchOptions]{
		Flags: func(o *searchOptions, cmd *cobra.Command) {
			cmd.Flags().StringVar(&o.Session, "session", "", "search `SESSION`; every argument is a word")
			verb.RequireValues(cmd.Flags(), "session")
			_ = cmd.RegisterFlagCompletionFunc("session", completion.Sessions(o.CLI))
			cmd.Flags().BoolVarP(&o.All, "all", "a", false, "search all sessions; every argument is a word")
			cmd.Flags().IntVarP(&o.Limit, "limit", "n", 50, "print at most `N` hits; 0: all")
		},
		Read: func(o *searchOptions, args []string) error {
			o.Args = args
			if o.Session != "" && o.All {
				return exit.Usagef("--session and --all exclude each other")
			}
			if o.Limit < 0 {
				return exit.Usagef("invalid --limit %d: want 0 or more", o.Limit)
			}
			return nil
		},
		Run: func(ctx context.Context, o *searchOptions) error { return searchError(runSearch(ctx, o)) },
	},
}

// searchPageSize is the number of hits of one request.
const searchPageSize = 200

func runSearch(ctx context.Context, o *searchOptions) error {
	if o.CLI.Flags.RequireCommand(protocol.DoSearch, true) != nil {
		if err := o.requireSession(); err != nil {
			return err
		}
	}
	c, err := connection.Open(ctx, o.CLI)
	if err != nil {
		return err
	}
	defer c.Close()
	if !slices.Contains(c.Hello().Commands, protocol.DoSearch) {
		return o.searchTranscript(c)
	}
	list, err := connection.Call[protocol.ListResult](c, protocol.DoList, "", protocol.ListData{Closed: true})
	if err != nil {
		return err
	}
	session, words := o.splitArgs(list.Sessions)
	query := queryOf(words)
	if _, err := protocol.ParseQuery(query); err != nil {
		return exit.Usagef("%w", err)
	}
	names := map[string]string{}
	for _, s := range list.Sessions {
		names[s.Session] = s.Name
	}
	found := 0
	for d := (protocol.SearchData{Query: query}); ; {
		d.Limit = searchPageSize
		if o.Limit > 0 {
			d.Limit = min(searchPageSize, o.Limit-found)
		}
		res, err := connection.Call[protocol.SearchResult](c, protocol.DoSearch, session, d)
		if err != nil {
			return err
		}
		for i := range res.Hits {
			if err := o.printHit(&res.Hits[i], names); err != nil {
				return err
			}
		}
		for _, id := range res.Skipped {
			o.CLI.Out.Notef("session %s cannot be read: see the server's log", id)
		}
		found += len(res.Hits)
		if d.Cursor = res.Cursor; d.Cursor == "" || o.Limit > 0 && found >= o.Limit {
			break
		}
	}
	if found == 0 {
		return exit.Silent(exit.Failure)
	}
	return nil
}

// searchError returns an error of search. 1 says that nothing matched, so other errors have 2.
func searchError(err error) error {
	if e := exit.From(err); err != nil && e.Err != nil && e.Status == exit.Failure {
		failed := *e
		failed.Status = exit.Usage
		return &failed
	}
	return err
}

// splitArgs splits the arguments into the session, which may be empty, and the words.
func (o *searchOptions) splitArgs(sessions []protocol.Summary) (session string, words []string) {
	if o.Session != "" {
		return o.Session, o.Args
	}
	if !o.All && len(o.Args) > 1 {
		first := o.Args[0]
		named := func(s protocol.Summary) bool { return s.Session == first || s.Name == first }
		if slices.ContainsFunc(sessions, named) {
			return first, o.Args[1:]
		}
	}
	return "", o.Args
}

// queryOf returns the arguments as a query. An argument with spaces is a phrase, unless it contains
// quotes.
func queryOf(words []string) string {
	quoted := slices.Clone(words)
	for i, w := range quoted {
		if strings.ContainsAny(w, " \t\n") && !strings.Contains(w, `"`) {
			quoted[i] = `"` + w + `"`
		}
	}
	return strings.Join(quoted, " ")
}

func (o *searchOptions) printHit(h *protocol.Hit, names map[string]string) error {
	return o.CLI.Out.Print(h, func(w io.Writer) {
		name := names[h.Session]
		if name == "" {
			name = h.Session
		}
		at := h.Time.Local().Format("2006-01-02 15:04")
		fmt.Fprintf(w, "%s:%d  %s  %s  %s\n", output.OneLine(name, 0), h.Seq, at, h.Kind,
			output.OneLine(strings.TrimSpace(h.Snippet), 0))
	})
}

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
