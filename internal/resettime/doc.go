// Package resettime reads when a usage limit ends from the words in which agents and model providers
// say it to people. It must not know either of them.
package resettime
