import API
import Ledger
import Tracking

extension JobSpec {
    /// The job that `draft` asks for; what it does not say is by default.
    ///
    /// - Throws: ``APIError`` for what is missing, malformed, or of a later version.
    init(_ draft: JobDraft, _ reading: ScheduleReading) throws(APIError) {
        guard let name = draft.name else { throw APIError(.badValue, "the job has no name") }
        if draft.actions.isEmpty {
            throw APIError(
                .badValue, "the job has nothing to do",
                hint: "Give it a command, a shell text, a prompt or a url.")
        }
        self.init(
            name: name, action: .command([]),
            schedule: ScheduleSpec(kind: .manual, text: "", zone: reading.zone))
        try apply(draft, reading)
    }

    /// Changes what `draft` names, and nothing else.
    mutating func apply(_ draft: JobDraft, _ reading: ScheduleReading) throws(APIError) {
        if draft.actions.count > 1 {
            throw APIError(.badValue, "a job has one of command, shell, prompt and url, not two")
        }
        if let schedule = draft.schedule { self.schedule = try ScheduleSpec(schedule, reading) }
        do {
            try JobFields.standard.apply(draft.fields, to: &self)
        } catch {
            throw APIError(error)
        }
    }
}

extension JobDraft {
    /// Which of the fields it has that say what a job does.
    fileprivate var actions: [String] { JobFields.actions.filter { fields[$0] != nil } }
}

extension APIError {
    /// The refusal of a field.
    init(_ fault: JobFault) {
        let hint = (fault.advice ?? fault.hint).map {
            $0.prefix(1).uppercased() + $0.dropFirst() + ($0.hasSuffix("?") ? "" : ".")
        }
        let code: ErrorCode =
            fault.key == "bot" ? .badName : fault.message == JobFault.wrongKind.message ? .badJSON : .badValue
        self.init(code, (fault.key.isEmpty ? "" : "\(fault.key): ") + fault.message, hint: hint)
    }
}
