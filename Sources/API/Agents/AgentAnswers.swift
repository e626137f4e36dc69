/// The questions of one call of an agent, asked one after another; an answer that does not fit is asked for again.
package struct AgentAnswers: Sendable {
    private let hook: AgentHook
    private let questions: [AgentQuestion]
    private var fault: FormFault?
    private var isOver = false
    /// What was answered, in the order of the questions.
    package private(set) var given: [String] = []

    /// Nothing was asked yet.
    package init(_ hook: AgentHook, _ questions: [AgentQuestion]) {
        (self.hook, self.questions) = (hook, questions)
    }

    /// What is to be asked next; nil: nothing is left.
    package var next: AgentQuestion? {
        guard !isOver, given.count < questions.count else { return nil }
        var question = questions[given.count]
        if let fault { question.text = "Not accepted: \(fault.sentence).\n" + question.text }
        return question
    }

    /// A person answered what is next.
    package mutating func add(_ answer: String) {
        guard given.count < questions.count else { return }
        fault = hook.fault(of: answer, at: given.count)
        if fault != nil { return }
        isOver = questions[given.count].ends.contains(answer)
        given.append(answer)
    }
}
