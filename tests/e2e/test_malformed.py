"""Requests that are wrong in every way there is: each gets a right status code and a message that a person can act on, the
server lives, and the next answer is exact."""


import grpc
import numpy as np
import pytest
from conftest import array, cvae_pb2_grpc, error_details_pb2, matrix, pb, status_pb2
from google.protobuf import empty_pb2

INVALID = grpc.StatusCode.INVALID_ARGUMENT
NAN, INF = float("nan"), float("inf")
X = matrix(np.linspace(0, 1, 512).reshape(2, 256))
Z = matrix(np.linspace(-1, 1, 64).reshape(2, 32))


def good(operation, **changes):
    """A right request of two rows, with changes; None leaves a field out."""
    fields = {"model": "seed", "labels": [1, 2]}
    if operation in ("Encode", "Reconstruct", "Loss"):
        fields["x"] = X
    if operation == "Decode":
        fields["z"] = Z
    fields.update(changes)
    fields = {name: value for name, value in fields.items() if value is not None}
    return operation, getattr(pb, operation + "Request")(**fields)


def bad_matrices(width):
    """(matrix, words of the message) for a field of this width and two rows."""
    row = [0.5] * width
    return [
        (pb.Matrix(rows=2, cols=width - 1, values=[0.5] * (2 * (width - 1))), "cols"),
        (pb.Matrix(rows=2, cols=width + 1, values=[0.5] * (2 * (width + 1))), "cols"),
        (pb.Matrix(values=row + [0.5]), "multiple"),
        (pb.Matrix(rows=3, cols=width, values=row * 2), "rows"),
        (pb.Matrix(rows=1, cols=width, values=row * 2), "rows"),
        (pb.Matrix(rows=2**31, cols=width, values=row * 2), "rows"),
        (pb.Matrix(rows=2**32 - 1, cols=2**32 - 1, values=row * 2), "cols"),
        (pb.Matrix(rows=2**32 - 1, cols=width, values=row * 2), "rows"),
        (pb.Matrix(values=row * 2, data=b"\0" * (8 * width)), "both"),
        (pb.Matrix(rows=2, cols=width, data=b"\0" * (8 * width - 1)), "multiple of 4"),
        (pb.Matrix(rows=2, cols=width, data=b"\0" * (8 * width - 4)), "values"),
        (pb.Matrix(rows=2, cols=width, data=b"\0" * (8 * width + 4)), "values"),
        (pb.Matrix(), "0 rows"),
        (pb.Matrix(values=row * 3), "rows"),
        (pb.Matrix(values=row + [NAN] + [0.5] * (width - 1)), "row 1, column 0"),
        (pb.Matrix(values=row + [0.5] * (width - 1) + [INF]), f"row 1, column {width - 1}"),
        (pb.Matrix(values=[-INF] + [0.5] * (2 * width - 1)), "row 0, column 0"),
    ]


def cases():
    of_x, of_noise = ("Encode", "Reconstruct", "Loss"), ("Reconstruct", "Loss", "Generate")
    of_all = of_x + ("Decode", "Generate")
    for operation in of_x:
        for bad, words in bad_matrices(256):
            # Three right rows are wrong only next to two labels.
            yield good(operation, x=bad), "labels" if words == "rows" and len(bad.values) == 768 else "x", words
        yield good(operation, x=None), "x", "0 rows"
    for bad, words in bad_matrices(32):
        yield good("Decode", z=bad), "labels" if words == "rows" and len(bad.values) == 96 else "z", words
        for operation in of_noise:
            yield good(operation, eps=bad), "eps", words
    for operation in of_all:
        for bad, words in bad_matrices(10):
            if operation == "Generate" and words == "rows" and len(bad.values) == 30:
                continue  # there the condition says how many
            yield good(operation, labels=None, y=bad), "y", words
        yield good(operation, labels=[1, 10]), "labels[1]", "classes 0 to 9"
        yield good(operation, labels=[2**32 - 1, 0]), "labels[0]", "classes 0 to 9"
        yield good(operation, labels=None), "labels", "exactly one"
        yield good(operation, y=matrix(np.eye(10)[:2])), "labels", "exactly one"
        yield good(operation, parts={"label": pb.Part(ids=[1, 2])}), "labels", "exactly one"
        for part, words in (
            (pb.Part(), "exactly one"),
            (pb.Part(ids=[1, 2], names=["a", "b"]), "exactly one"),
            (pb.Part(names=["a", "b"]), "no class names"),
            (pb.Part(ids=[1, 99]), "classes 0 to 9"),
            (pb.Part(values=pb.Matrix(rows=2, cols=9, values=[0] * 18)), "cols"),
        ):
            yield good(operation, labels=None, parts={"label": part}), "parts", words
        yield good(operation, labels=None, parts={"no such": pb.Part(ids=[1, 2])}), "parts", "label"
        yield good(operation, labels=None, parts={"p" * 100_000: pb.Part(ids=[1, 2])}), "parts", "label"
        yield good(operation, model="digits", labels=None, parts={"digit": pb.Part(names=["one", "eleven"])}), "names[1]", "zero"
        yield good(operation, finite=7), "finite", "REJECT"
        yield good(operation, encoding=9), "encoding", "AUTO"
        yield good(operation, model=None), "model", "digits"
        yield good(operation, first_row=2**64 - 1), "first_row", "2^64"
    for operation in of_x + ("Decode",):
        yield good(operation, labels=[1]), "labels", "expected 2"
        yield good(operation, labels=[1, 2, 3]), "labels", "expected 2"
    for operation, samples in (("Loss", "num_samples"), ("Generate", "samples_per_row")):
        yield good(operation, mean=empty_pb2.Empty(), **{samples: 2}), "mean", "equal"
        yield good(operation, seed=1, **{samples: 2**32 - 1}), samples, "at most"
        yield good(operation, eps=Z, **{samples: 2}), "eps", "expected 4"
    for field in ("per_row", "per_column", "per_latent"):
        yield good("Reconstruct", **{field: True}), field, "return_loss"
    yield good("Reconstruct", target=X), "target", "return_loss"
    yield good("Reconstruct", decode_condition=pb.Condition()), "decode_condition", "exactly one"
    yield good("Reconstruct", decode_condition=pb.Condition(labels=[1])), "decode_condition.labels", "expected 2"
    yield good("Loss", target=Z), "target", "cols"
    for temperature in (NAN, INF, -1.0):
        yield good("Generate", seed=1, temperature=temperature), "temperature", "finite"
    yield good("Generate", eps=Z, temperature=1), "temperature", "mean or eps"
    yield good("Generate", mean=empty_pb2.Empty(), temperature=1), "temperature", "mean or eps"
    yield good("Generate", rows=3), "labels", "expected 3"
    for operation in of_all:
        yield (operation, getattr(pb, operation + "Request")()), "model", "missing"


CASES = list(cases())


def test_there_are_enough():
    assert len(CASES) >= 200


@pytest.fixture(scope="module")
def exact(stub):
    """Asserts that the server answers as it did at first."""
    asked = pb.ReconstructRequest(model="seed", x=X, labels=[1, 2], seed=1)
    first = stub.Reconstruct(asked)
    return lambda: stub.Reconstruct(asked) == first or pytest.fail("the next answer is another")


@pytest.mark.parametrize("index", range(len(CASES)))
def test_each_gets_a_code_and_a_message(stub, exact, index):
    (operation, request), field, words = CASES[index]
    with pytest.raises(grpc.RpcError) as error:
        getattr(stub, operation)(request, timeout=20)
    assert error.value.code() == INVALID, error.value
    message = error.value.details()
    assert message.startswith(field) or field in message.split(":")[0], message
    assert words in message, message
    assert len(message) <= 1024
    details = dict(error.value.trailing_metadata())["grpc-status-details-bin"]
    assert len(details) <= 3072
    status = status_pb2.Status.FromString(details)
    bad = error_details_pb2.BadRequest()
    assert status.details[0].Unpack(bad) and bad.field_violations[0].field in message
    exact()


def raw(server, method, data, *options, **kwargs):
    call = server.channel(*options).unary_unary(f"/cvae.v1.CvaeService/{method}", request_serializer=lambda b: b,
                                                response_deserializer=lambda b: b)
    with pytest.raises(grpc.RpcError) as error:
        call(data, timeout=60, **kwargs)
    return error.value


METHODS = ["Encode", "Reconstruct", "Loss", "Decode", "Generate", "GetModel", "ListModels"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("data", [b"\xff" * 9, b"\x0a\xff", b"\x0a\x02\xff\xfe", b"\x2a\x7f\x08"])
def test_bytes_that_are_no_message(server, exact, method, data):
    if method == "ListModels" and data == b"\x0a\x02\xff\xfe":
        pytest.skip("an unknown field of its own, which is ignored")
    error = raw(server, method, data)
    assert error.code() == INVALID and method in error.details()
    exact()
    assert not any("protobuf" in line for line in server.log)  # what callers send is no matter for the log


@pytest.mark.parametrize("operation", METHODS[:5])
def test_a_message_that_ends_amid_a_field(server, exact, operation):
    """After fields of every kind, which are all parsed by then."""
    whole = good(operation, labels=None, parts={"label": pb.Part(ids=[1, 2])})[1].SerializeToString()
    for end in (b"\xff", b"\x0a\x7f", b"\x0b", b"\x00"):
        error = raw(server, operation, whole + end)
        assert error.code() == INVALID and operation in error.details()
    exact()


def test_an_unknown_model_is_not_found(stub, exact):
    for operation in ("Encode", "GetModel"):
        with pytest.raises(grpc.RpcError) as error:
            getattr(stub, operation)(getattr(pb, operation + "Request")(model="no such"))
        assert error.value.code() == grpc.StatusCode.NOT_FOUND and "digits" in error.value.details()
    exact()


def test_an_unknown_method_is_unimplemented(server, exact):
    assert raw(server, "NoSuch", b"").code() == grpc.StatusCode.UNIMPLEMENTED
    exact()


def test_much_metadata_harms_no_call_of_the_same_connection(server):
    stub = cvae_pb2_grpc.CvaeServiceStub(server.channel())
    asked = pb.GenerateRequest(model="seed", labels=[1], samples_per_row=20000, seed=1)
    for size in (9_000, 50_000):
        neighbour = stub.Generate.future(asked)
        stub.ListModels(pb.ListModelsRequest(), metadata=[("cookie", "x" * size)], timeout=20)
        assert neighbour.result(timeout=60).x_hat.rows == 20000


def test_an_unknown_priority_is_refused(stub, exact):
    request = pb.GenerateRequest(model="digits", labels=[7], seed=1)
    answers = [stub.Generate(request, metadata=[("cvae-priority", p)]) for p in ("high", "normal", "low")]
    assert answers == [stub.Generate(request)] * 3
    with pytest.raises(grpc.RpcError) as error:
        stub.Generate(request, metadata=[("cvae-priority", "urgent")])
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert error.value.details() == 'cvae-priority: got "urgent", expected high, normal or low'
    exact()


def test_a_message_of_100_mb_is_refused(server, exact):
    error = raw(server, "Encode", b"\0" * 100_000_000)
    assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "grpc-status-details-bin" not in dict(error.trailing_metadata())  # no RetryInfo: never retry
    exact()


@pytest.mark.parametrize("compression", [grpc.Compression.Gzip, grpc.Compression.Deflate])
def test_compressed_messages_are_off(server, exact, compression):
    bomb = pb.EncodeRequest(model="seed", x=pb.Matrix(data=b"\0" * 60_000_000)).SerializeToString()
    assert raw(server, "Encode", bomb, compression=compression).code() == grpc.StatusCode.UNIMPLEMENTED
    exact()


def test_an_unknown_field_is_ignored(server, stub, exact):
    asked = pb.EncodeRequest(model="seed", x=X, labels=[1, 2])
    call = server.channel().unary_unary("/cvae.v1.CvaeService/Encode", request_serializer=lambda b: b,
                                        response_deserializer=pb.EncodeResponse.FromString)
    unknown = b"\xf8\x3f\x01" + b"\xfa\x3f\x03abc"
    assert call(asked.SerializeToString() + unknown) == stub.Encode(asked)


def test_a_nan_goes_through_its_own_row_alone(stub):
    x = np.linspace(0, 1, 768, dtype=np.float32).reshape(3, 256)
    clean = stub.Reconstruct(pb.ReconstructRequest(model="seed", x=matrix(x), labels=[1, 2, 3], seed=1, return_loss=True, per_row=True))
    x[1, 7] = np.nan
    dirty = stub.Reconstruct(pb.ReconstructRequest(model="seed", x=matrix(x), labels=[1, 2, 3], seed=1, return_loss=True, per_row=True,
                                                   finite=pb.Matrix.PROPAGATE))
    a, b = array(clean.x_hat), array(dirty.x_hat)
    assert a[[0, 2]].tobytes() == b[[0, 2]].tobytes()
    assert set(b[1].view(np.uint32)) == {0x7FC00000}
    assert np.isnan(dirty.loss) and np.isnan(dirty.row_recon[1]) and dirty.row_kl[0] == clean.row_kl[0]


def test_bad_rows_harm_no_neighbours(server, stub):
    """A bad value is found when a batch is gathered: those that share the batch are answered all the same."""
    asked = pb.ReconstructRequest(model="seed", x=X, labels=[1, 2], seed=1)
    expected = stub.Reconstruct(asked)
    nan = pb.ReconstructRequest(model="seed", x=pb.Matrix(values=[NAN] * 512), labels=[1, 2], seed=1)
    calls = [(stub.Reconstruct.future(asked), stub.Reconstruct.future(nan)) for _ in range(100)]
    for right, wrong in calls:
        assert right.result() == expected
        assert wrong.code() == INVALID
