package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// memoryOf returns how much memory a process has now, and the most that it ever had, in KiB (proc_pid_status(5)).
func memoryOf(pid int) (now, peak int64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			now = n
		case "VmHWM":
			peak = n
		}
	}
	return now, peak, nil
}
