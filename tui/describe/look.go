package describe

import (
	"strconv"

	"agentctl/protocol"
)

// Look tells what a client shows of a session, like "live" or "reads turn 12", or "".
func Look(l *protocol.Look) string {
	switch {
	case l == nil:
		return ""
	case l.Live:
		return "live"
	case l.Number > 0:
		return "reads " + TurnName(l.Number)
	case l.Turn != "":
		return "reads an earlier turn"
	}
	return ""
}

// TurnName names a turn by its number.
func TurnName(number int) string { return "turn " + strconv.Itoa(number) }
