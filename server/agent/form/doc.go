// Package form reads the forms that agents and MCP servers ask users to fill in: a JSON Schema of
// simple fields, which becomes questions, and answers, which become its content. A form that users
// would not see completely is refused. The package must not know who asks, nor who answers.
package form
