package import Timeline
package import Tracking

/// A terminal view of all runs that a person stays in: questions, runs, what ended, what comes next, and the keys.
///
/// A value: it takes keys and what the daemon reported, and makes frames and wishes.
package struct WatchModel: Sendable {
    enum Mode: Hashable {
        case list, help, log
        case filter, search
        case confirm(run: String)
        case answer(WatchQuestion)
    }

    /// The questions that are open, those that wait longest first.
    package var questions: [WatchQuestion] = []
    /// The jobs, in any order.
    package var jobs: [WatchJob] = []
    /// What came of the last wish, in words; shown until the next key.
    package var note: String?
    /// What ended since yesterday and what comes until tomorrow; nil: not known yet.
    package var strip: DayStrip?
    /// What waiting runs wait for, by the run's id.
    package var waits: [String: String] = [:]

    private(set) var runs: [LiveState] = []
    private(set) var ends: [WatchEnd] = []
    private(set) var selection: Target?
    var filter = ""
    var editor = LineEditor()
    var mode = Mode.list
    var log: WatchLog?
    let zone: ZoneRules
    let traits: TerminalTraits
    /// So many ended runs stay in the view; older ones are printed when it is left.
    static let endsShown = 50
    static let jobsShown = 5
    static let questionsShown = 3
    /// Rows of a log that is scrolled before its height is known.
    var logHeight = 20

    /// A view of nothing yet.
    package init(_ traits: TerminalTraits, zone: ZoneRules) {
        (self.traits, self.zone) = (traits, zone)
    }

    /// Whether this run waits for its turn, as far as is known.
    package func isWaiting(_ id: String) -> Bool {
        runs.contains { $0.task.id == id && $0.state.isBeforeStart }
    }

    /// The runs that are active.
    package var active: [LiveState] { runs }

    // MARK: What the daemon reports

    /// Takes the state of a run that has not ended; one that is older than what is known is dropped.
    package mutating func update(_ live: LiveState) {
        guard !ends.contains(where: { $0.live.task.id == live.task.id }) else { return }
        guard let index = runs.firstIndex(where: { $0.task.id == live.task.id }) else {
            runs.append(live)
            runs.sort { $0.task.id < $1.task.id }
            return
        }
        if runs[index].order < live.order { runs[index] = live }
    }

    /// Takes the runs that wait for their turn, all there are; what is known of one that has begun stays.
    ///
    /// Their states have no number: the daemon's board has them from their start on.
    package mutating func update(waiting lives: [LiveState]) {
        let ids = Set(lives.map(\.task.id))
        for live in runs where live.seq == 0 && !ids.contains(live.task.id) {
            runs.removeAll { $0.task.id == live.task.id }
            waits[live.task.id] = nil
        }
        lives.forEach { update($0) }
    }

    /// Takes the end of a run; returns the ends that leave the view by it and should be printed later.
    package mutating func end(_ end: WatchEnd) -> [WatchEnd] {
        let id = end.live.task.id
        runs.removeAll { $0.task.id == id }
        waits[id] = nil
        guard !ends.contains(where: { $0.live.task.id == id }) else { return [] }
        strip?.ends.append(DayStrip.End(at: end.live.updatedAt, state: end.live.state))
        if selection == .run(id) { selection = .end(id) }
        ends.append(end)
        let count = max(0, ends.count - Self.endsShown)
        let left = Array(ends.prefix(count))
        ends.removeFirst(count)
        return left
    }

    /// Takes out all ends, to be printed when the view is left.
    package mutating func takeEnds() -> [WatchEnd] {
        defer { ends = [] }
        return ends
    }

    /// Shows the output of a run.
    package mutating func show(_ log: WatchLog) {
        self.log = log
        mode = .log
    }

    /// The run whose output is shown, as it was named; nil: none is.
    package var shownLog: String? { mode == .log || mode == .search ? log?.run : nil }

    /// Adds what the run printed since to the log that is shown.
    package mutating func append(toLog lines: [String]) { log?.append(lines) }

    // MARK: Keys

    /// Applies a key; of letters that were typed ahead, those up to the first that asks for something.
    package mutating func receive(_ key: Key) -> Wish? {
        if case .text(let text) = key, text.count > 1, !isEditing {
            for (index, letter) in text.enumerated() {
                if isEditing { return receive(.text(String(text.dropFirst(index)))) }
                if let wish = receive(.text(String(letter))) { return wish }
            }
            return nil
        }
        note = nil
        switch mode {
        case .list: return receiveInList(key)
        case .help:
            mode = .list
            return nil
        case .confirm(let run):
            mode = .list
            if case .text(let text) = key, text.lowercased() == "y" { return .cancel(run: run) }
            note = "\(run) was not canceled"
            return nil
        case .log: return receiveInLog(key)
        case .filter, .search, .answer: return receiveInEditor(key)
        }
    }

    private var isEditing: Bool {
        switch mode {
        case .filter, .search, .answer: true
        case .list, .help, .log, .confirm: false
        }
    }

    private mutating func receiveInList(_ key: Key) -> Wish? {
        switch key {
        case .up: move(by: -1)
        case .down: move(by: 1)
        case .home: selection = targets.first
        case .end: selection = targets.last
        case .escape:
            filter = ""
            selection = nil
        case .enter: return open()
        case .redraw: return .redraw
        case .endOfInput: return .quit
        case .text(let letter): return receive(letter: letter)
        default: break
        }
        return nil
    }

    private mutating func receive(letter: String) -> Wish? {
        switch letter {
        case "q": return .quit
        case "?", "h": mode = .help
        case "k": move(by: -1)
        case "j": move(by: 1)
        case "/": edit(.filter, filter)
        case "c": askToCancel()
        case "r": return repeatOrStart()
        case "p": return pauseOrResume()
        case "a": beginAnswer()
        default: break
        }
        return nil
    }

    private mutating func receiveInLog(_ key: Key) -> Wish? {
        switch key {
        case .up: log?.scroll(by: 1, height: logHeight)
        case .down: log?.scroll(by: -1, height: logHeight)
        case .pageUp: log?.scroll(by: logHeight - 1, height: logHeight)
        case .pageDown: log?.scroll(by: 1 - logHeight, height: logHeight)
        case .home: log?.scroll(by: 1_000_000, height: logHeight)
        case .end: log?.scroll(by: -1_000_000, height: logHeight)
        case .enter, .escape, .backspace: mode = .list
        case .redraw: return .redraw
        case .text("/"): edit(.search, "")
        case .text("n"): search(log?.term ?? "")
        case .text("q"): mode = .list
        default: break
        }
        return nil
    }

    private mutating func receiveInEditor(_ key: Key) -> Wish? {
        if key == .escape {
            if mode == .filter { filter = "" }
            mode = mode == .search ? .log : .list
            return nil
        }
        switch editor.receive(key) {
        case .entered(let text): return finishEditing(text)
        case .interrupted, .ended: mode = mode == .search ? .log : .list
        case .redraw: return .redraw
        case .edited:
            if mode == .filter {
                filter = editor.text
                keepSelection()
            }
        case .suspended: break
        }
        return nil
    }

    private mutating func finishEditing(_ text: String) -> Wish? {
        switch mode {
        case .answer(let question):
            mode = .list
            if let answer = question.reading(text) { return .answer(id: question.id, text: answer) }
            note = text.isEmpty ? nil : "It takes one of: \(question.choices.joined(separator: ", "))"
        case .search:
            mode = .log
            search(text)
        default:
            filter = CleanText.line(text, limit: 100)
            mode = .list
        }
        return nil
    }

    private mutating func edit(_ mode: Mode, _ text: String) {
        self.mode = mode
        editor = LineEditor()
        if !text.isEmpty { _ = editor.receive(.text(text)) }
    }

    private mutating func search(_ term: String) {
        if log?.search(for: term, height: logHeight) == false { note = "\"\(term)\" is not in the log" }
    }

    // MARK: The selection

    /// What can be selected, from above.
    package var targets: [Target] {
        shownQuestions.map { .question($0.id) } + shownRuns.map { .run($0.task.id) }
            + shownEnds.map { .end($0.live.task.id) } + shownJobs.map { .job($0.name) }
    }

    private mutating func move(by step: Int) {
        let all = targets
        guard !all.isEmpty else { return }
        guard let selection, let index = all.firstIndex(of: selection) else {
            self.selection = step > 0 ? all.first : all.last
            return
        }
        self.selection = all[min(max(0, index + step), all.count - 1)]
    }

    private mutating func keepSelection() {
        if let selected = selection, !targets.contains(selected) { selection = nil }
    }

    /// The run that is meant: the selected one, or the only one there is.
    private var meantRun: String? {
        switch selection {
        case .run(let id): return runs.first { $0.task.id == id }?.task.run
        case .end(let id): return ends.first { $0.live.task.id == id }?.live.task.run
        case .question, .job, nil: break
        }
        return shownRuns.count == 1 && selection == nil ? shownRuns[0].task.run : nil
    }

    /// The active run that is meant.
    private var meantActiveRun: LiveState? {
        if case .run(let id) = selection { return runs.first { $0.task.id == id } }
        return shownRuns.count == 1 && selection == nil ? shownRuns[0] : nil
    }

    /// The job that is meant, by its name.
    private var meantJob: String? {
        if case .job(let name) = selection { return name }
        return meantRun.map { String($0.prefix { $0 != "#" }) }
    }

    private mutating func open() -> Wish? {
        if case .question = selection {
            beginAnswer()
            return nil
        }
        if let run = meantRun { return .showLog(run: run) }
        // Of a job its newest run is meant.
        if case .job(let name) = selection { return .showLog(run: name) }
        note = "Select a run with the arrow keys"
        return nil
    }

    private mutating func askToCancel() {
        if case .end = selection {
            note = "It has ended"
        } else if let run = meantRun {
            mode = .confirm(run: run)
        } else {
            note = "Select an active run with the arrow keys"
        }
    }

    private mutating func repeatOrStart() -> Wish? {
        switch selection {
        case .end: if let run = meantRun { return .retry(run: run) }
        case .job(let name): return .start(job: name)
        case .run: note = "It is active; r repeats a run that has ended"
        case .question, nil:
            if let last = shownEnds.last { return .retry(run: last.live.task.run) }
            note = "Select a run that has ended, or a job, with the arrow keys"
        }
        return nil
    }

    private mutating func pauseOrResume() -> Wish? {
        if let run = meantActiveRun {
            return run.state == .paused ? .resumeRun(run.task.run) : .pauseRun(run.task.run)
        }
        guard let name = meantJob else {
            note = "Select a job or a run with the arrow keys"
            return nil
        }
        let isPaused = jobs.first { $0.name == name }?.isPaused == true
        return isPaused ? .resume(job: name) : .pause(job: name)
    }

    private mutating func beginAnswer() {
        var wanted = shownQuestions.first
        if case .question(let id) = selection { wanted = questions.first { $0.id == id } }
        guard let wanted else {
            note = "No question is open"
            return
        }
        edit(.answer(wanted), "")
    }

    // MARK: What is shown

    func matches(_ texts: String...) -> Bool {
        let wanted = filter.lowercased()
        return wanted.isEmpty || texts.contains { $0.lowercased().contains(wanted) }
    }

    var shownQuestions: [WatchQuestion] { questions.filter { matches($0.bot, $0.text) } }

    /// In the order of their rows.
    var shownRuns: [LiveState] {
        let matching = runs.filter { matches($0.task.run, $0.task.botName, $0.phase ?? "") }
        return matching.enumerated().sorted {
            ($0.element.state.viewRank, $0.offset) < ($1.element.state.viewRank, $1.offset)
        }.map(\.element)
    }

    var shownEnds: [WatchEnd] { ends.filter { matches($0.live.task.run, $0.live.task.botName) } }

    /// What comes next, while no run is active.
    var shownJobs: [WatchJob] {
        guard shownRuns.isEmpty else { return [] }
        let matching = jobs.filter { matches($0.name) && $0.nextAt != nil && !$0.isPaused }
            .sorted { ($0.nextAt ?? .distantFuture, $0.name) < ($1.nextAt ?? .distantFuture, $1.name) }
        let paused = filter.isEmpty ? [] : jobs.filter { matches($0.name) && $0.isPaused }
        return Array((matching + paused).prefix(Self.jobsShown))
    }
}
