package server

import (
	"fmt"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// displayText builds the display texts, in the language of the protocol's document.
var displayText = struct {
	planned, solving, solved, solverStopped, solverAgain, tool, result func(string) string
}{
	planned:       func(n string) string { return "规划完成（" + n + " 个任务）" },
	solving:       func(title string) string { return "开始求解：" + title },
	solved:        func(title string) string { return "求解完成：" + title },
	solverStopped: func(title string) string { return "求解已取消：" + title },
	solverAgain:   func(title string) string { return "重新求解：" + title },
	tool:          func(name string) string { return "调用工具：" + name },
	result:        func(name string) string { return "工具结果：" + name },
}

// Constant display texts.
const (
	showPlanning       = "开始规划"
	showPlanCancelled  = "规划已取消"
	showPlanInvalid    = "规划无效"
	showThinking       = "思考中"
	showTimeout        = "执行超时"
	showInterrupted    = "执行已中断"
	showError          = "执行出错"
	showInvalid        = "输入校验失败"
	showRetry          = "正在重试"
	showRecovering     = "正在恢复"
	showRecovered      = "恢复成功"
	showRecoveryFailed = "恢复失败"
	showAggregating    = "开始汇总"
	showAggregated     = "汇总完成"
	showPipeline       = "流程完成"
	showCreated        = "会话已创建"
	showEnded          = "会话已结束"
	showExported       = "状态已导出"
	showRestored       = "状态已恢复"
	showConnected      = "连接已建立"
	showHeartbeat      = "心跳"
)

// showConfirm returns the question to confirm a plan.
func showConfirm(tasks []protocol.Task) string {
	titles := make([]string, len(tasks))
	for i, t := range tasks {
		titles[i] = t.Title
	}
	return wire.Shorten(fmt.Sprintf("请确认规划（%d 个任务）：%s", len(tasks), strings.Join(titles, "、")))
}
