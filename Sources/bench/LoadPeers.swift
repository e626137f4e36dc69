import Host

/// Other schedulers with as many jobs of the same times, each in a process of its own: APScheduler (the tests'
/// Python packages; a million take it many minutes) and robfig/cron (Debian's golang-go and
/// golang-github-robfig-cron-dev).
struct LoadPeers: Sendable {
    var name: String
    private var start: @Sendable (Int, String) throws -> BenchProcess

    static let all: [Self] = [
        LoadPeers(name: "APScheduler") { count, _ in
            try BenchProcess(".build/venv/bin/python", ["-c", snake, "\(count)"])
        },
        LoadPeers(name: "robfig") { count, folder in
            try SmallFile.replace(folder + "/main.go", with: Array(golang.utf8))
            return try BenchProcess(
                "go", ["run", folder + "/main.go", "\(count)"],
                environment: ["GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": ""])
        },
    ]

    /// Its figures; nil, and a word about it, where it can't be measured.
    func measure(_ count: Int) -> Loaded? {
        do {
            let folder = try BenchFolder()
            let process = try start(count, folder.path)
            defer { process.end() }
            return Loaded(try process.firstLine())
        } catch {
            print("  \(name.padded(to: 12)) not installed, so not measured")
            return nil
        }
    }

    private static let snake = """
        import datetime, gc, sys, time
        from apscheduler.schedulers.background import BackgroundScheduler
        from apscheduler.triggers.cron import CronTrigger
        from apscheduler.events import EVENT_JOB_SUBMITTED
        def memory():
            gc.collect()
            for line in open("/proc/self/smaps_rollup"):
                if line.startswith("Anonymous:"):
                    return int(line.split()[1]) * 1024
        def nothing():
            pass
        count, late = int(sys.argv[1]), []
        scheduler = BackgroundScheduler(timezone="Europe/Berlin")
        scheduler.add_listener(
            lambda event: late.append(time.time() - event.scheduled_run_times[0].timestamp()), EVENT_JOB_SUBMITTED)
        before, begin = memory(), time.monotonic()
        for number in range(count):
            second = number * 7919 % 86400
            scheduler.add_job(nothing, CronTrigger(
                second=second % 60, minute=second // 60 % 60, hour=second // 3600, timezone="Europe/Berlin"))
        scheduler.start()
        up, size = time.monotonic() - begin, (memory() - before) / count
        time.sleep(10)
        late.sort()
        at = lambda part: late[min(len(late) - 1, int(len(late) * part))] if late else float("nan")
        print("jobs", up, size, at(0.5), at(0.99), len(late), flush=True)
        """

    private static let golang = """
        package main

        import (
            "fmt"
            "os"
            "runtime"
            "sort"
            "strconv"
            "sync"
            "time"

            "github.com/robfig/cron"
        )

        func memory() float64 {
            runtime.GC()
            var stats runtime.MemStats
            runtime.ReadMemStats(&stats)
            return float64(stats.HeapAlloc)
        }

        func main() {
            count, _ := strconv.Atoi(os.Args[1])
            berlin, _ := time.LoadLocation("Europe/Berlin")
            parser := cron.NewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
            var lock sync.Mutex
            late := []float64{}
            before, begin := memory(), time.Now()
            all := cron.New(cron.WithLocation(berlin))
            for number := 0; number < count; number++ {
                second := number * 7919 % 86400
                text := fmt.Sprintf("%d %d %d * * *", second%60, second/60%60, second/3600)
                schedule, _ := parser.Parse(text)
                all.Schedule(schedule, cron.FuncJob(func() {
                    now := time.Now()
                    lock.Lock()
                    late = append(late, now.Sub(now.Truncate(time.Second)).Seconds())
                    lock.Unlock()
                }))
            }
            all.Start()
            up := time.Since(begin).Seconds()
            size := (memory() - before) / float64(count)
            time.Sleep(10 * time.Second)
            lock.Lock()
            sort.Float64s(late)
            at := func(part float64) float64 {
                if len(late) == 0 {
                    return 0
                }
                place := int(float64(len(late)) * part)
                if place > len(late)-1 {
                    place = len(late) - 1
                }
                return late[place]
            }
            fmt.Println("jobs", up, size, at(0.5), at(0.99), len(late))
        }
        """
}
