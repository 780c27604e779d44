// Package host is what the program knows of this machine as the host of the user's server: the
// configuration that the server reads, the secrets that its log must not show, and how many files
// it may open.
//
// It starts no server and knows no verb.
package host
