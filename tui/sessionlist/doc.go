// Package sessionlist owns which sessions there are, in what order they are shown, and who of them needs a person next. A change
// costs the logarithm of their number: nothing is sorted again.
//
// It knows summaries and nothing of screens, sockets or clocks. Nothing in it is safe for concurrent use.
package sessionlist
