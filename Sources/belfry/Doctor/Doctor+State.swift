import API
import Glibc
import Host

extension Doctor {
    /// Below this much a commit may soon fail.
    private static let littleRoom: UInt64 = 200 << 20
    /// Below this much the ledger's reserve can't be made again.
    private static let noRoom: UInt64 = 4 << 20
    private static let muchOutput = 2 << 30

    /// The state folder, its disk, and the ledger in it.
    func stateFindings() -> [WireProblem] {
        // Not made yet, or not ours to look at.
        guard unsafe access(state, F_OK) == 0 else { return [] }
        return folderFindings() + diskFindings() + ledgerFindings()
    }

    private func folderFindings() -> [WireProblem] {
        var found: [WireProblem] = []
        if (try? FileSystemKind(of: state))?.isRemote == true {
            found.append(
                problem(
                    "remoteState",
                    "the state \(state) is on a network file system, where locks can't be trusted",
                    "name a folder on a disk of this machine: belfryd --state"))
        }
        if unsafe access(state, W_OK) != 0 {
            if errno == EROFS {
                found.append(
                    problem(
                        "readOnlyState", "the state \(state) is on a file system that is read-only",
                        "look at the kernel's log for why, then mount it for writing"))
            } else if status == nil, owner == .user {
                found.append(
                    problem(
                        "readOnlyState", "the state \(state) can't be written by this user",
                        "give it to the user who runs belfryd, mode 0700"))
            }
        }
        return found
    }

    private func diskFindings() -> [WireProblem] {
        var found: [WireProblem] = []
        var disk = statvfs()
        guard unsafe statvfs(state, &disk) == 0 else { return [] }
        let free = UInt64(disk.f_bavail) * UInt64(disk.f_frsize)
        if free < Self.noRoom {
            found.append(
                problem(
                    "diskFull", "the disk of \(state) is full",
                    "free some space; missed slots are then caught up"))
        } else if free < Self.littleRoom {
            found.append(
                warning(
                    "diskLow", "the disk of \(state) has only \(free >> 20) MiB left",
                    "free some space before no run can begin"))
        } else if disk.f_files > 0, disk.f_favail < 1000 {
            found.append(
                warning(
                    "diskLow", "the file system of \(state) has room for only \(disk.f_favail) more files",
                    "remove what is not needed"))
        }
        let output = Self.size(of: state + "/output", depth: 2)
        if output > Self.muchOutput {
            found.append(
                warning(
                    "muchOutput", "the output of runs takes up \(output >> 30) GiB in \(state)/output",
                    "let jobs print less; it is removed with its runs, after 90 days or 1,000 runs"))
        }
        return found
    }

    /// The bytes that files take up on the disk; nothing for what can't be read.
    private static func size(of folder: String, depth: Int) -> Int {
        var sum = 0
        for name in (try? Folder.names(in: folder)) ?? [] {
            var status = stat()
            let path = folder + "/" + name
            guard unsafe lstat(path, &status) == 0 else { continue }
            sum += Int(status.st_blocks) * 512
            if status.st_mode & 0o170000 == 0o040000, depth > 0 { sum += size(of: path, depth: depth - 1) }
        }
        return sum
    }

    // MARK: The ledger

    private func ledgerFindings() -> [WireProblem] {
        guard status == nil else { return [] }
        if let pid = try? StateLock.liveHolder(folder: state) {
            return [
                problem(
                    "silentDaemon", "process \(pid) holds the state \(state), and no daemon answers",
                    "look at its log, or end it: kill \(pid)")
            ]
        }
        let ledger = state + "/ledger.sqlite"
        guard unsafe access(ledger, R_OK | W_OK) == 0,
            let run = ToolRun(Self.daemonProgram, ["backup", "--check", ledger]), let code = run.code,
            code != 0
        else { return [] }
        let sentence = run.lines.first ?? "it can't be read"
        return [problem("ledger", Self.without(["belfryd backup: "], sentence))]
    }

    /// `belfryd` beside this program, else the one the shell would find.
    static var daemonProgram: String {
        guard let own = try? Machine.executablePath() else { return "belfryd" }
        let beside = SmallFile.parent(of: own) + "/belfryd"
        return unsafe access(beside, X_OK) == 0 ? beside : "belfryd"
    }

    static func without(_ prefixes: [String], _ text: String) -> String {
        for prefix in prefixes where text.hasPrefix(prefix) { return String(text.dropFirst(prefix.count)) }
        return text
    }
}
