package sessionview

import "agentctl/protocol"

// Position returns the position of the last event applied, or zero before the first snapshot.
func (v *View) Position() protocol.Position {
	if v.replica.epoch == "" {
		return protocol.Position{}
	}
	return protocol.Position{Epoch: v.replica.epoch, Seq: v.replica.state.Seq}
}

// Lags reports whether this client is behind the server's log: the events come faster than the
// connection carries them.
func (v *View) Lags() bool { return v.replica.lag() >= minLag }

// Detachable reports whether a later subscription can continue this one without a loss. The hold of
// a queued message that the user edits ends with the subscription.
func (v *View) Detachable() bool { return !v.replica.ended && v.composer.Editing == "" }
