// Package policyfuzz makes command lines that try to run a denied program, and tests that a policy
// file allows none that does. Plain tests run the lines in an interpreter that starts no program;
// with the build tag policyfuzz real shells and tools run them as nobody in an empty root.
package policyfuzz
