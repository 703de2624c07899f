package main

import (
	"debug/elf"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/internal/recipe"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
)

func TestMain(m *testing.M) { sqltest.Main(m) }

func TestReadme(t *testing.T) {
	t.Parallel()
	recipe.Readme(t)
}

// dockerfile returns the arguments of an instruction of the Dockerfile, with continued lines joined.
// With several of these instructions it returns the last one.
func dockerfile(t *testing.T, instruction string) string {
	t.Helper()
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	joined := strings.ReplaceAll(string(text), "\\\n", "")
	found := regexp.MustCompile(`(?m)^`+instruction+` (.*)$`).FindAllStringSubmatch(joined, -1)
	if len(found) == 0 {
		t.Fatalf("the Dockerfile has no %s", instruction)
	}
	return found[len(found)-1][1]
}

// execForm decodes the JSON array of an instruction, after its options.
func execForm(t *testing.T, instruction string) (args []string) {
	t.Helper()
	text := dockerfile(t, instruction)
	if err := json.Unmarshal([]byte(text[strings.IndexByte(text, '['):]), &args); err != nil {
		t.Fatalf("%s is not in exec form: %v", instruction, err)
	}
	return args
}

// compose is the part of compose.yaml that must agree with other files.
type compose struct {
	Services map[string]struct {
		Image       string
		Build       struct{ Context, Dockerfile string }
		Environment map[string]string
		Ports       []string
		ReadOnly    bool   `yaml:"read_only"`
		Grace       string `yaml:"stop_grace_period"`
	}
}

func readCompose(t *testing.T) (c compose) {
	t.Helper()
	text, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// The command of the Dockerfile builds a static program. Two processes of it serve one database of
// PostgreSQL, pass the health check, and end without an error after SIGTERM.
func TestImageProgram(t *testing.T) {
	command := dockerfile(t, "RUN")
	command = command[strings.Index(command, "CGO_ENABLED"):]
	program := filepath.Join(t.TempDir(), "deploy")
	if !strings.Contains(command, "-o /out/deploy ") {
		t.Fatalf("the program is not /out/deploy: %s", command)
	}
	build := exec.CommandContext(t.Context(), "bash", "-c", strings.Replace(command, "/out/deploy", program, 1))
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	if runtime.GOOS == "linux" {
		file, err := elf.Open(program)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
			t.Error("the program is not static")
		}
	}
	t.Setenv("DATABASE_URL", sqltest.PostgreSQL(t))
	s := recipe.New(t)
	one := s.ExecPath(program, "-addr", "127.0.0.1:0")
	two := s.ExecPath(program, "-addr", "127.0.0.1:0")
	resp, err := http.Post("http://"+one.Address+"/notes", "application/json", strings.NewReader(`{"text":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	check := execForm(t, "HEALTHCHECK")[1:]
	for path, want := range map[string]bool{"/health": true, "/notes/1": true, "/notes/2": false} {
		args := []string{check[0], "http://" + two.Address + path}
		out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
		if (err == nil) != want {
			t.Errorf("%v: %v, want success: %t\n%s", args, err, want, out)
		}
	}
	for _, p := range []*recipe.Program{one, two} {
		if p.Stop(syscall.SIGTERM); p.ExitCode() != 0 {
			t.Errorf("exit status %d after SIGTERM:\n%s", p.ExitCode(), p.Output())
		}
	}
}

// Ports, paths and passwords are the same in all places.
func TestFilesAgree(t *testing.T) {
	t.Parallel()
	entry, check := execForm(t, "ENTRYPOINT"), execForm(t, "HEALTHCHECK")
	port := dockerfile(t, "EXPOSE")
	want := []string{"/deploy", "-addr", ":" + port, "-notice", "10s", "/deploy", "-check", "http://127.0.0.1:" + port + "/health"}
	if diff := cmp.Diff(want, append(entry, check...)); diff != "" {
		t.Errorf("ENTRYPOINT and HEALTHCHECK (-want +got):\n%s", diff)
	}
	if user := dockerfile(t, "USER"); strings.HasPrefix(user, "0") || user == "root" {
		t.Errorf("the user is %s", user)
	}
	c := readCompose(t)
	db := c.Services["db"]
	hosts := map[string]bool{}
	for _, name := range []string{"notes-1", "notes-2"} {
		s := c.Services[name]
		u, err := url.Parse(s.Environment["DATABASE_URL"])
		if err != nil {
			t.Fatal(err)
		}
		password, _ := u.User.Password()
		got := map[string]string{
			"POSTGRES_USER": u.User.Username(), "POSTGRES_PASSWORD": password, "POSTGRES_DB": strings.Trim(u.Path, "/"),
		}
		if diff := cmp.Diff(db.Environment, got); diff != "" || u.Host != "db:5432" {
			t.Errorf("%s: DATABASE_URL %s (-db +%s):\n%s", name, u, name, diff)
		}
		if len(s.Ports) != 1 || !strings.HasSuffix(s.Ports[0], ":"+port) || hosts[s.Ports[0]] {
			t.Errorf("%s: ports %v, want one of its own that leads to %s", name, s.Ports, port)
		}
		hosts[s.Ports[0]] = true
		// -notice, the Drain of middleware.Serve, and time to end
		if grace, err := time.ParseDuration(s.Grace); err != nil || grace <= 20*time.Second {
			t.Errorf("%s: stop_grace_period %s, want more than 20s", name, s.Grace)
		}
		// relative to compose.yaml, and the Dockerfile relative to the context
		if _, err := os.Stat(filepath.Join(s.Build.Context, s.Build.Dockerfile)); err != nil || !s.ReadOnly {
			t.Errorf("%s: %v, read-only %t", name, err, s.ReadOnly)
		}
		if _, err := os.Stat(filepath.Join(s.Build.Context, "go.mod")); err != nil {
			t.Errorf("%s: the context is not the root of the repository: %v", name, err)
		}
	}
}
