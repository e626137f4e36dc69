import API
import Host
import TestSupport
import Testing

/// The timers of Debian 12: its base system, cron's helpers, PHP, sysstat, mdadm and others.
@Suite struct `the timers of Debian` {
    /// Timer, service, and what becomes of each setting that starts it: an expression, another schedule, or `!` with a
    /// part of the reason.
    private static let units: [(name: String, timer: String, service: String, results: [String])] = [
        (
            "apt-daily", "OnCalendar=*-*-* 6,18:00\nRandomizedDelaySec=12h\nPersistent=true",
            "Type=oneshot\nExecStartPre=-/usr/lib/apt/apt-helper wait-online\nExecStart=/usr/lib/apt/apt.systemd.daily update",
            ["! ExecStartPre"]
        ),
        (
            "apt-daily-upgrade", "OnCalendar=*-*-* 6:00\nRandomizedDelaySec=60m\nPersistent=true",
            "Type=oneshot\nExecStartPre=-/usr/lib/apt/apt-helper wait-online\nExecStart=/usr/lib/apt/apt.systemd.daily install",
            ["! ExecStartPre"]
        ),
        (
            "dpkg-db-backup", "OnCalendar=daily", "Type=oneshot\nExecStart=/usr/libexec/dpkg/dpkg-db-backup",
            ["0 0 * * *"]
        ),
        (
            "e2scrub_all", "OnCalendar=Sun *-*-* 03:10:00\nRandomizedDelaySec=60\nPersistent=true",
            "Type=oneshot\nEnvironment=SERVICE_MODE=1\nExecStart=/sbin/e2scrub_all\nSyslogIdentifier=e2scrub_all",
            ["10 3 * * 0 spread 60"]
        ),
        (
            "fstrim", "OnCalendar=weekly\nAccuracySec=1h\nPersistent=true\nRandomizedDelaySec=6000",
            "Type=oneshot\nExecStart=/sbin/fstrim --listed-in /etc/fstab:/proc/self/mountinfo --verbose --quiet-unsupported",
            ["0 0 * * 1 spread 6000"]
        ),
        (
            "man-db", "OnCalendar=daily\nRandomizedDelaySec=12h\nPersistent=true",
            """
            Type=oneshot
            ExecStart=+/usr/bin/install -d -o man -g man -m 0755 /var/cache/man
            ExecStart=/usr/bin/find /var/cache/man -type f -name *.gz -atime +6 -delete
            ExecStart=/usr/bin/mandb --quiet
            User=man
            Nice=19
            """, ["! has 3 commands"]
        ),
        (
            "systemd-tmpfiles-clean", "OnBootSec=15min\nOnUnitActiveSec=1d",
            "Type=oneshot\nExecStart=systemd-tmpfiles --clean\nSuccessExitStatus=DATAERR\nIOSchedulingClass=idle",
            ["startup", "every 1d"]
        ),
        (
            "logrotate", "OnCalendar=daily\nAccuracySec=1h\nPersistent=true",
            "Type=oneshot\nExecStart=/usr/sbin/logrotate /etc/logrotate.conf\nNice=19\nIOSchedulingClass=best-effort",
            ["0 0 * * * nice 19"]
        ),
        (
            "anacron", "OnCalendar=*-*-* 07..23:30\nRandomizedDelaySec=5m\nPersistent=true",
            "EnvironmentFile=-/etc/default/anacron\nExecStart=/usr/sbin/anacron -d -q $ANACRON_ARGS\nKillMode=process",
            ["! EnvironmentFile"]
        ),
        (
            "certbot", "OnCalendar=*-*-* 00,12:00:00\nRandomizedDelaySec=43200\nPersistent=true",
            "Type=oneshot\nExecStart=/usr/bin/certbot -q renew --no-random-sleep-on-renew\nPrivateTmp=true",
            ["0 0,12 * * * spread 43200"]
        ),
        (
            "phpsessionclean", "OnCalendar=*-*-* *:09,39:00\nPersistent=true",
            "Type=oneshot\nExecStart=/usr/lib/php/sessionclean\nProtectHome=true", ["9,39 * * * *"]
        ),
        (
            "sysstat-collect", "OnCalendar=*:00/10",
            "Type=oneshot\nUser=root\nExecStart=/usr/lib/sysstat/sa1 1 1",
            ["0-59/10 * * * *"]
        ),
        (
            "sysstat-summary", "OnCalendar=00:07:00",
            "Type=oneshot\nUser=root\nExecStart=/usr/lib/sysstat/sa2 -A",
            ["7 0 * * *"]
        ),
        (
            "mdcheck_start", "OnCalendar=Sun *-*-1..7 1:00:00",
            """
            Type=oneshot
            Environment="MDADM_CHECK_DURATION=6 hours"
            ExecStart=/usr/share/mdadm/mdcheck --duration ${MDADM_CHECK_DURATION}
            """, ["! replace its $"]
        ),
        (
            "mdmonitor-oneshot", "OnCalendar=daily\nRandomizedDelaySec=24h\nAccuracySec=24h\nPersistent=true",
            "Environment=MDADM_MONITOR_ARGS=--scan\nEnvironmentFile=-/run/sysconfig/mdadm\nExecStart=/sbin/mdadm --monitor --oneshot $MDADM_MONITOR_ARGS",
            ["! EnvironmentFile"]
        ),
        (
            "exim4-base", "OnCalendar=daily\nPersistent=true",
            "Type=oneshot\nExecStart=/etc/cron.daily/exim4-base", ["0 0 * * *"]
        ),
        (
            "fwupd-refresh", "OnCalendar=*-*-* 6,18:00\nRandomizedDelaySec=12h\nPersistent=true",
            "Type=oneshot\nCacheDirectory=fwupdmgr\nStandardError=null\nDynamicUser=yes\nExecStart=/usr/bin/fwupdmgr refresh",
            ["! DynamicUser"]
        ),
        (
            "plocate-updatedb",
            "OnCalendar=daily\nRandomizedDelaySec=12h\nAccuracySec=20min\nPersistent=true",
            "Type=oneshot\nExecStart=/usr/sbin/updatedb.plocate\nNice=19\nIOSchedulingClass=idle",
            ["0 0 * * * spread 43200 nice 19"]
        ),
        (
            "pg_compresswal@", "OnCalendar=daily\nRandomizedDelaySec=1h\nFixedRandomDelay=true",
            "Type=oneshot\nUser=postgres\nExecStart=/usr/bin/pg_backupcluster %i compresswal", ["! %i"]
        ),
    ]

    @Test func `come in, or are refused with the reason`() async throws {
        #expect(Self.units.reduce(0) { $0 + $1.results.count } == 20)
        let run = try CommandRun()
        for unit in Self.units {
            try SmallFile.replace(
                run.folder.file("\(unit.name).timer"), with: Array("[Timer]\n\(unit.timer)\n".utf8))
            try SmallFile.replace(
                run.folder.file("\(unit.name).service"), with: Array("[Service]\n\(unit.service)\n".utf8))
        }
        for unit in Self.units {
            let answer = try await run.belfry("import systemd \(unit.name).timer --system --json")
            let jobs = try WireCoding.decode([ImportListing].self, from: answer.output.utf8)
            #expect(jobs.count == unit.results.count, "\(unit.name)")
            for (job, result) in zip(jobs, unit.results) {
                if result.hasPrefix("! ") {
                    #expect(job.refused?.contains(result.dropFirst(2)) == true, "\(unit.name): \(job)")
                } else {
                    #expect(job.refused == nil && Self.summary(job) == result, "\(unit.name): \(job)")
                }
            }
        }
    }

    private static func summary(_ job: ImportListing) -> String {
        var text = job.expression ?? job.schedule
        if let spread = job.spreadMs { text += " spread \(spread / 1000)" }
        if let nice = job.nice { text += " nice \(nice)" }
        return text
    }
}
