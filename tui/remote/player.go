package remote

import "time"

// Player is a Session that plays a recording at the pace of its events. It sends no commands: Do
// fails. Its methods are safe for concurrent use and do not block.
type Player interface {
	Session

	// Playback returns the position in the recording.
	Playback() Playback

	// Now returns the time of the recording at the position.
	Now() time.Time

	// TogglePause pauses or continues. At the end it starts again.
	TogglePause()

	// ChangeSpeed plays by steps faster, or slower if steps is negative.
	ChangeSpeed(steps int)

	// SeekTurn moves to the start of a later turn (by > 0) or an earlier one. The earlier one is
	// the turn being played, unless that has just begun.
	SeekTurn(by int)

	// SeekStart moves to the start of the recording, SeekEnd to its end.
	SeekStart()
	SeekEnd()
}

// Playback is the position of a Player.
type Playback struct {
	Turn, Turns int // the turn played, from 1, or 0 before the first; the number of turns
	At, Length  time.Duration
	Speed       float64 // 1 is the recorded pace; 0 is as fast as possible
	Paused      bool
	Ended       bool // the last event was played
}
