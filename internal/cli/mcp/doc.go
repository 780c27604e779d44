// Package mcp has the verb mcp, which serves sessions as tools of the Model Context Protocol on
// stdin and stdout, and skill, which prints how an agent uses the program.
//
// It uses nothing of the packages of other verbs.
package mcp
