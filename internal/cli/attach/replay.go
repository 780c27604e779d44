package attach

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/screen"
	"agentctl/internal/cli/sessionlog"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/tui"
	"agentctl/tui/replay"
	"agentctl/wsclient"
)

// replayIdle is the default of --max-pause.
const replayIdle = 2 * time.Second

// replayOptions are the options of attach that concern a replay.
type replayOptions struct {
	Replay   bool
	MaxPause time.Duration
}

func (o *replayOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.Replay, "replay", false, "play an exported log, or the log of a session")
	f.DurationVar(&o.MaxPause, "max-pause", replayIdle, "longest pause of a replay, a `TIME`; 0: any")
}

// check returns a usage error for options that do not fit together.
func (o *replayOptions) check(session string, plain, maxPause bool) error {
	switch {
	case maxPause && !o.Replay:
		return exit.Usagef("--max-pause needs --replay")
	case !o.Replay:
		return nil
	case session == "":
		return exit.Usagef("--replay needs a FILE or a SESSION")
	case plain:
		return exit.Usagef("--replay has no --plain: it needs a terminal")
	case o.MaxPause < 0:
		return exit.Usagef("invalid --max-pause %s: want 0 or more", o.MaxPause)
	}
	return nil
}

// runReplay plays a recording in the terminal. It sends no command to a session.
func runReplay(ctx context.Context, o *attachOptions) (err error) {
	recording, err := o.recording(ctx)
	if err != nil {
		return err
	}
	if !screen.HasTerminal(o.CLI) {
		return exit.Usagef("--replay needs a terminal").WithHint("agentctl export prints a session")
	}
	ctx, stop := verb.NotifySignal(ctx)
	defer func() { err = cmp.Or(stop(), err) }()
	player := replay.NewPlayer(recording, o.MaxPause)
	return verb.LeaveCause(ctx, tui.Run(ctx, player, o.screenOptions()))
}

// recording reads the file of the argument, or the log of the session if there is no such file.
func (o *attachOptions) recording(ctx context.Context) (*replay.Recording, error) {
	info, err := os.Stat(o.Session)
	if err == nil && !info.IsDir() || strings.ContainsRune(o.Session, os.PathSeparator) {
		return readRecording(o.Session)
	}
	if err := o.CLI.Flags.RequireCommand(protocol.DoSubscribe, true); err != nil {
		return nil, err
	}
	c, err := connection.Open(ctx, o.CLI)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	recording := new(replay.Recording)
	r := sessionlog.Reader{Conn: c, CLI: o.CLI, Session: o.Session, Raw: true}
	err = r.Read(protocol.Position{}, func(item wsclient.Item) error {
		if item.Event == nil {
			return nil
		}
		return recording.Add(item.Event)
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("replay %s: %w", o.Session, err)
	case recording.Len() == 0:
		return nil, exit.Errorf(exit.Failure, protocol.CodeUnsupported, "%s: no past events at the server", o.Session)
	}
	return recording, nil
}

// readRecording reads the recording in a file.
func readRecording(name string) (*replay.Recording, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, exit.Usagef("replay: %w", err)
	}
	defer file.Close()
	recording, err := replay.Read(file)
	if err != nil {
		return nil, exit.Usagef("replay %s: %w", name, err)
	}
	return recording, nil
}
