package codec

import "time"

// An Ender is a server codec that ends what its client leaves. End is the last call, after the foreign
// client is gone: its host carries out the native lines of the output.
type Ender interface {
	End(now time.Time) Output
}
