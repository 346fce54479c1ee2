"""The official OpenAI client, unchanged but for its base URL, against a gateway in front of the simulator.

Called by tests/it/openai.rs with the base URL. Every check is an assertion; silence is success.
"""

import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key="sk-of-the-caller", max_retries=0)


def ask(question, **more):
    messages = [{"role": "user", "content": question}]
    return client.chat.completions.create(model="sim-model", messages=messages, temperature=0, **more)


def plain():
    """A whole answer; asked again it is the same, from the cache."""
    first, again = (ask("How many moons does Mars have?") for _ in range(2))
    assert first.choices[0].finish_reason == "stop", first
    assert first.choices[0].message.content == again.choices[0].message.content
    assert first.usage.total_tokens == first.usage.prompt_tokens + first.usage.completion_tokens > 0


def streaming():
    """A streamed answer, and the stored one streamed: the same text, and an end."""
    texts = []
    for _ in range(2):
        chunks = list(ask("Why is the sky blue?", stream=True))
        assert chunks[-1].choices[0].finish_reason == "stop", chunks[-1]
        assert not any(chunk.usage for chunk in chunks), "nobody asked for the usage"
        texts.append("".join(chunk.choices[0].delta.content or "" for chunk in chunks))
    assert texts[0] and texts[0] == texts[1]


def streaming_with_usage():
    """With include_usage the last chunk counts the tokens and has no choice."""
    chunks = list(ask("Why is the sea salty?", stream=True, stream_options={"include_usage": True}))
    assert chunks[-1].usage.total_tokens > 0 and not chunks[-1].choices


def both_modes_share():
    """What was streamed to one caller is one document for another."""
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in ask("Who was Ada Lovelace?", stream=True))
    assert ask("Who was Ada Lovelace?").choices[0].message.content == streamed


def completions():
    """The older surface."""
    reply = client.completions.create(model="sim-model", prompt="Once upon a time", temperature=0, max_tokens=8)
    assert reply.choices[0].text


def embeddings():
    """One vector an input, in order, the same for the same text."""
    reply = client.embeddings.create(model="sim-model", input=["red", "green", "red"])
    vectors = [item.embedding for item in reply.data]
    assert [item.index for item in reply.data] == [0, 1, 2]
    assert len(vectors[0]) > 1 and vectors[0] == vectors[2] != vectors[1]


def models():
    """A path that is passed through."""
    assert [model.id for model in client.models.list()] == ["sim-model"]


def errors():
    """Our refusals and the upstream's errors are the client's own exceptions."""
    try:
        client.post("/chat/completions", cast_to=object, body={"model": "sim-model", "messages": "none"})
        raise AssertionError("accepted")
    except openai.BadRequestError as error:
        assert error.status_code == 400 and error.param == "messages", error
    for fault, kind in (("429=7", openai.RateLimitError), ("503", openai.InternalServerError)):
        try:
            ask(f"What happens on {fault}?", extra_headers={"x-sim-fault": fault})
            raise AssertionError("accepted")
        except kind as error:
            assert error.body, error
            assert error.response.headers.get("retry-after") == ("7" if fault == "429=7" else None)
    try:
        client.models.retrieve("none/such/path")
        raise AssertionError("accepted")
    except openai.NotFoundError:
        pass


for check in (plain, streaming, streaming_with_usage, both_modes_share, completions, embeddings, models, errors):
    try:
        check()
    except Exception as error:
        sys.exit(f"{check.__name__}: {type(error).__name__}: {error}")
