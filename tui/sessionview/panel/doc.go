// Package panel says what a panel of the session view is, and implements the simple ones: plan,
// connection, outbox, interrupt and the position in a recording. A panel changes its own state and
// returns what the view should do as a [Result]; it knows neither the view nor the other panels.
package panel
