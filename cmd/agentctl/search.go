package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type searchOptions struct {
	app *app

	Args  []string
	All   bool
	Limit int
}

func newSearch(a *app, run func(context.Context, *searchOptions) error) *cobra.Command {
	o := &searchOptions{app: a}
	cmd := &cobra.Command{
		Use:   "search [SESSION] WORDS…",
		Short: "Find what was said and done",
		Long: `Find what holds every word, whatever its case: messages, answers, reasoning, tool calls, approvals and errors, of the turn under way
too. An argument with spaces is looked for as it is. The first of several arguments names a session if there is one of that id or
name; --all takes it for a word. Hits come newest first, of all sessions those made last first: each with its session and place
in it, what it is, when, and a line of it. Over a dialect one session is searched, the first argument, in what its server tells of it.

Exits 0 when something was found and, as grep does, 1 when nothing was; an error says so on stderr.`,
		Example: "  agentctl search fix cache key\n  agentctl search \"connection refused\" --limit 5\n" +
			"  agentctl search panic -o json | jq -r .session | sort -u",
		Args:              takes(1, -1),
		ValidArgsFunction: a.sessions,
	}
	cmd.RunE = does(a, o, func(args []string) error {
		o.Args = args
		if o.Limit < 0 {
			return usagef("--limit is 0 or more")
		}
		return nil
	}, run)
	cmd.Flags().BoolVarP(&o.All, "all", "a", false, "in all sessions: every argument is a word")
	cmd.Flags().IntVarP(&o.Limit, "limit", "n", 50, "at most `N` hits; 0: all")
	return cmd
}

// hitsAtOnce is how many hits are asked for at a time.
const hitsAtOnce = 200

func runSearch(ctx context.Context, o *searchOptions) error {
	l, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	if !slices.Contains(l.Hello().Commands, protocol.DoSearch) {
		return o.lookThrough(l)
	}
	list, err := ask[protocol.ListResult](l, protocol.DoList, "", protocol.ListData{Closed: true})
	if err != nil {
		return err
	}
	session, words := o.split(list.Sessions)
	query := queryOf(words)
	if _, err := protocol.ParseQuery(query); err != nil {
		return usagef("%w", err)
	}
	names := map[string]string{}
	for _, s := range list.Sessions {
		names[s.Session] = s.Name
	}
	found := 0
	for d := (protocol.SearchData{Query: query}); ; {
		d.Limit = hitsAtOnce
		if o.Limit > 0 {
			d.Limit = min(hitsAtOnce, o.Limit-found)
		}
		res, err := ask[protocol.SearchResult](l, protocol.DoSearch, session, d)
		if err != nil {
			return err
		}
		for i := range res.Hits {
			if err := o.tell(&res.Hits[i], names); err != nil {
				return err
			}
		}
		for _, id := range res.Skipped {
			o.app.note("session %s cannot be read; the server's log tells why", id)
		}
		found += len(res.Hits)
		if d.Cursor = res.Cursor; d.Cursor == "" || o.Limit > 0 && found >= o.Limit {
			break
		}
	}
	if found == 0 {
		return &fault{exit: exitError}
	}
	return nil
}

// split tells the session from the words.
func (o *searchOptions) split(sessions []protocol.Summary) (session string, words []string) {
	if !o.All && len(o.Args) > 1 {
		first := o.Args[0]
		if slices.ContainsFunc(sessions, func(s protocol.Summary) bool { return s.Session == first || s.Name == first }) {
			return first, o.Args[1:]
		}
	}
	return "", o.Args
}

// queryOf writes arguments as a query; one with spaces is a phrase unless it has quotes of its own.
func queryOf(words []string) string {
	quoted := slices.Clone(words)
	for i, w := range quoted {
		if strings.ContainsAny(w, " \t\n") && !strings.Contains(w, `"`) {
			quoted[i] = `"` + w + `"`
		}
	}
	return strings.Join(quoted, " ")
}

func (o *searchOptions) tell(h *protocol.Hit, names map[string]string) error {
	return o.app.emit(h, func(w io.Writer) {
		name := names[h.Session]
		if name == "" {
			name = h.Session
		}
		fmt.Fprintf(w, "%s:%d  %s  %s  %s\n", oneLine(name, 0), h.Seq, h.Time.Local().Format("2006-01-02 15:04"), h.Kind,
			oneLine(strings.TrimSpace(h.Snippet), 0))
	})
}
