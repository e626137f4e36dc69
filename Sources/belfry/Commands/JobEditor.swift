import API
import APIClient
import Glibc
import Host

/// Opens a job as YAML in the user's editor until the daemon accepts it, or the user gives up.
struct JobEditor {
    let client: DaemonClient
    let name: String

    /// The job as it was changed; nil: it was left as it is.
    ///
    /// - Throws: ``APIError``, with the place of the text where there is one to keep.
    func edit() throws(APIError) -> WireJob? {
        let job = try client.ask(Endpoints.job(name))
        if job.origin == "file" {
            throw APIError(
                .jobFromFile, "job \"\(name)\" comes from \(job.at ?? "a file")",
                hint: "Change it there, then: belfry reload")
        }
        let original = try client.ask(Endpoints.jobText(name))
        let folder = try makeFolder()
        let path = "\(folder)/\(name).yaml"
        do throws(APIError) {
            let changed = try edit(original, at: path)
            unsafe unlink(path)
            unsafe rmdir(folder)
            return changed
        } catch {
            var kept = error
            kept.drawing = error.drawing.map { "\($0)\nYour text is kept in \(path)." }
            kept.hint = [error.hint, "Your text is kept in \(path)."].compactMap(\.self).joined(
                separator: " ")
            throw kept
        }
    }

    private func edit(_ original: WireJobText, at path: String) throws(APIError) -> WireJob? {
        var text = original.text
        var refusal: APIError?
        while true {
            try write(header(refusal, above: text) + text, to: path)
            try openEditor(on: path)
            let edited = Self.withoutHeader(try read(path))
            if edited == original.text || edited.allSatisfy(\.isWhitespace) { return nil }
            // Who saves a refused text as it is has given up.
            if let refusal, edited == text { throw refusal }
            text = edited
            do throws(APIError) {
                let new = WireJobText(text: text, revision: original.revision)
                return try client.ask(Endpoints.setJobText(name, body: new))
            } catch {
                guard error.code.row.kind == .badConfig || error.code.row.kind == .badRequest else {
                    throw error
                }
                guard mayEditAgain(after: error, at: path) else { throw error }
                refusal = error
            }
        }
    }

    /// Waits for Enter on a terminal.
    ///
    /// Without one nobody would end the loop: what a script writes may be refused for ever.
    private func mayEditAgain(after refusal: APIError, at path: String) -> Bool {
        guard isatty(STDIN_FILENO) == 1, StandardOutput.isTerminal else { return false }
        StandardError.print("belfry: \(refusal.sentence)")
        StandardError.print("Your text is kept in \(path).")
        StandardError.print("Press Enter to edit again, Ctrl-C to stop.")
        return readLine() != nil
    }

    /// What stands above the text: how to leave, and why the text was refused, by the lines of the file.
    private func header(_ refusal: APIError?, above text: String) -> String {
        var lines = ["# Job \(name). Save and quit to change it; quit without a change to leave it as it is."]
        if let refusal {
            var reasons = refusal.faults.map { fault in
                (fault.line, ": " + fault.message + (fault.hint.map { "; \($0)" } ?? ""))
            }
            if reasons.isEmpty { reasons = [(0, refusal.sentence)] }
            let count = lines.count + 1 + reasons.count
            lines.append("# It was refused:")
            lines += reasons.map { line, reason in
                "#   " + (line > 0 ? "line \(line + count)" : "") + PlainText.oneLine(reason)
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The text without the comments at its beginning.
    private static func withoutHeader(_ text: String) -> String {
        var rest = text[...]
        while rest.first == "#" { rest = rest.drop { $0 != "\n" }.dropFirst() }
        return String(rest)
    }

    private func openEditor(on path: String) throws(APIError) {
        let environment = Machine.environment
        let named = ["VISUAL", "EDITOR"].compactMap { environment[$0] }.first { !$0.isEmpty }
        guard named != nil || isatty(STDIN_FILENO) == 1 else {
            throw APIError(
                .badRequest, "there is no terminal for an editor",
                hint: "Use options, as in belfry job edit \(name) --timeout 2h, or set EDITOR.")
        }
        // As git does: what is named may have arguments of its own.
        let command = named ?? "if command -v editor >/dev/null; then editor \"$@\"; else vi \"$@\"; fi"
        let whole = named == nil ? command : "\(command) \"$@\""
        let quoted = [whole, "belfry", path].map(JobText.quoted).joined(separator: " ")
        let status = unsafe system("/bin/sh -c \(quoted)")
        guard status == 0 else {
            throw APIError(
                .badRequest, "the editor did not end well; \"\(name)\" is unchanged",
                hint: "Set VISUAL or EDITOR to an editor that works.")
        }
    }

    /// A folder that only this user can read: the text may hold secrets of the environment.
    private func makeFolder() throws(APIError) -> String {
        let place = Machine.environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        var template = Array("\(place)/belfry-edit-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw APIError(.badValue, "a folder in \(place) can't be made: \(errorText(errno))")
        }
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private func write(_ text: String, to path: String) throws(APIError) {
        do throws(HostError) {
            try SmallFile.replace(path, with: Array(text.utf8))
        } catch {
            throw APIError(.badValue, "\(path) can't be written: \(error)")
        }
    }

    private func read(_ path: String) throws(APIError) -> String {
        do throws(HostError) {
            return String(decoding: try SmallFile.read(path, limit: 4 << 20), as: UTF8.self)
        } catch {
            throw APIError(.badValue, "\(path) can't be read: \(error)")
        }
    }
}
