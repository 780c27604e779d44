package protocol

// A Task is one part of a plan.
type Task struct {
	ID          string   `json:"id"`
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Status      string   `json:"status,omitempty"` // pending, running, completed, failed, cancelled
	After       []string `json:"after,omitempty"`  // tasks that must complete first
}

// Statuses of a task or a plan.
const (
	StatusPending   = "pending"
	StatusRunning   = "running"
	StatusCompleted = "completed"
	StatusFailed    = "failed"
	StatusCancelled = "cancelled"
	StatusInvalid   = "invalid"
)

// A Plan is the state of a session's newest plan.
type Plan struct {
	Status   string `json:"status"`
	Question string `json:"question,omitempty"`
	Summary  string `json:"summary,omitempty"`
	Tasks    []Task `json:"tasks,omitempty"`
}

// PlanStartedData is the data of plan.started.
type PlanStartedData struct {
	Question string `json:"question,omitempty"`
}

// PlanTasksData is the data of plan.updated and plan.completed: all tasks.
type PlanTasksData struct {
	Tasks   []Task `json:"tasks"`
	Summary string `json:"summary,omitempty"`
}

// PlanErrorData is the data of plan.invalid, plan.cancelled and plan.failed.
type PlanErrorData struct {
	Message string   `json:"message,omitempty"`
	Code    Code     `json:"code,omitempty"`
	Details []string `json:"details,omitempty"`
}

// TaskData is the data of every task event. Task equals the event's task.
type TaskData struct {
	Task       string `json:"task"`
	Title      string `json:"title,omitempty"`
	Message    string `json:"message,omitempty"` // progress, reason or error, for people
	Result     string `json:"result,omitempty"`
	Code       Code   `json:"code,omitempty"`
	Attempt    int    `json:"attempt,omitempty"` // from 1; of a restart, the new attempt
	DurationMS int64  `json:"duration_ms,omitempty"`
	Calls      int    `json:"calls,omitempty"` // to a model
	Usage      *Usage `json:"usage,omitempty"`
}

// AggregateData is the data of aggregate.* and pipeline.completed.
type AggregateData struct {
	Tasks      int    `json:"tasks,omitempty"`
	Text       string `json:"text,omitempty"`
	DurationMS int64  `json:"duration_ms,omitempty"`
	Usage      *Usage `json:"usage,omitempty"`

	Conflicts []FileConflict `json:"conflicts,omitempty"` // of pipeline.completed
}

// A FileConflict is a file that several tasks changed while they ran.
type FileConflict struct {
	Path  string   `json:"path"`
	Tasks []string `json:"tasks"` // ids
}
