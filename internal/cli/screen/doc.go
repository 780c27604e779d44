// Package screen gives the screens of the TUI what they need: a client of the protocol as their
// Server and Session, the servers of the configuration as one, and options from the user's
// configuration.
//
// It knows no verb. Packages attach and tour open the screens.
package screen
