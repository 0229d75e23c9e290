# docker build -t arcademark . && mkdir -p runs
# docker run --rm --user "$(id -u):$(id -g)" -v "$PWD/runs:/work/runs" -v arcademark-cache:/cache arcademark run random --episodes 3
FROM python:3.11-slim

COPY . /src
RUN python -m pip install --no-cache-dir -c /src/constraints.txt "/src[console,readers]" \
    && useradd --uid 1000 arcademark \
    && install -d -m 1777 /home/arcademark /work /cache
ENV ARCADEMARK_CACHE=/cache
RUN arcademark info console # which compiles it

# Whoever plays has this home: what Numba and the compiler keep needs one.
ENV HOME=/home/arcademark
USER 1000
WORKDIR /work
ENTRYPOINT ["arcademark"]
CMD ["--help"]
