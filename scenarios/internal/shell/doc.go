// Package shell answers for the containers of pods that have none: logs, a small shell, what listens on ports, and what
// they use. It makes a simulated pod pleasant to look at with kubectl, and a test of kubectl possible.
//
// In: pods and nodes as their provider knows them ([Pods]), and a clock. Out: [Scripted], whose [Scripted.Config] fills
// an api.PodHandlerConfig, and whose [Scripted.Summaries] say what nodes use. All of it is computed from the objects
// when it is asked for, so that it says the same again for the same pod (by its UID) and the same time.
//
//   - Logs tell a container's life: its start, readiness, a heartbeat every [Scripted].Heartbeat, SIGTERM, its end.
//     All options of kubectl logs hold.
//   - exec knows cat, date, echo, env, exit, false, help, hostname, sh, sleep, stty size, true and watch-size, which
//     prints the terminal's size whenever it changes. sh takes -c, or reads commands from stdin, with a prompt on a
//     terminal; it knows quotes, $NAME, $?, ;, && and ||. Anything else is not found, with exit code 127. On a terminal
//     Ctrl-C, Ctrl-D, Ctrl-U and backspace do what they do.
//   - attach shows new lines of the log and echoes stdin.
//   - port-forward finds HTTP on every port, which says whose pod it is, and an echo for everything else.
//   - CPU and memory are a part of what containers request, and change a little every 15 s.
//
// The package must never run a program, read a file, or show a Secret: env prints names that every container has.
package shell
