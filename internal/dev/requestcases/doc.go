// Package requestcases is a table of requests of agents, some of them hostile, for the tests of all
// that shows requests to users and of all that matches them to rules.
package requestcases
