// Package documents runs the command lines of the documents and of the help against real servers:
// the lines of README.md and the pages of docs, the scripts of the cookbook, and the examples of
// every verb. Commands find agentctl and usual programs of a shell, neither Go nor npm.
//
// These tests are behind the build tag documents; the tests of links and indexes are not.
// AGENTCTL_TEST_BINARY names the binary,
// AGENTCTL_TEST_ARCHIVE the directory of an unpacked release whose documents are run.
package documents
