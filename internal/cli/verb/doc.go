// Package verb declares what a verb of the command line is: one value with its text, with what is
// known of it before it runs, and with what it does. It makes the command of such a value, and puts the
// context of the run into its options. It owns what every verb is given, the Context: streams,
// environment, global flags and the user's configuration. It checks arguments, flags, and whether a verb
// may run here or with a dialect.
//
// It opens no connection, and knows no verb.
package verb
