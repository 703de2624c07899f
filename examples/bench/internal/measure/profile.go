package measure

import (
	"os"
	"runtime/pprof"
	"time"
)

// Profile calls send again and again for a time, and writes the profile of the processor to a file. It
// returns the first error of send.
func Profile(file string, each time.Duration, send func() error) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	for until := time.Now().Add(each); time.Now().Before(until); {
		for range 100 {
			if err := send(); err != nil {
				return err
			}
		}
	}
	return nil
}
